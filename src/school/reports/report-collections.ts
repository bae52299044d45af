/**
 * The collections that each report reads, by its name. A test compares it with the statements.
 *
 * Collections that only provide a default or check a parameter (does this class exist?) do not count, because
 * they do not change the report.
 */
export const REPORT_COLLECTIONS: Readonly<Record<string, readonly string[]>> = {
  'fee-defaulters': ['class', 'fee_concession', 'fee_due', 'fee_head', 'fee_receipt', 'registration'],
  'daily-fee-collection': ['fee_head', 'fee_receipt'],
  'fee-summary': ['fee_concession', 'fee_due', 'fee_head', 'fee_receipt', 'registration'],
  'student-concession': ['fee_concession', 'fee_due', 'fee_head', 'registration'],
  'leave-requests': ['leave_request', 'pltf_user', 'registration'],
  'daily-unique-sms': ['sms_log'],
  'rolled-back-receipts': ['fee_head', 'fee_receipt'],
  'classes-by-category': ['class', 'registration'],
  'class-attendance': ['attendance', 'holiday', 'registration'],
  'student-attendance': ['attendance', 'holiday', 'registration'],
  student: [
    'attendance',
    'class',
    'fee_concession',
    'fee_due',
    'fee_receipt',
    'leave_request',
    'registration',
    'result',
  ],
  teachers: ['class', 'pltf_user', 'teacher_attendance'],
  'teacher-attendance': ['holiday', 'pltf_user', 'teacher_attendance'],
  'grade-book': ['registration', 'result'],
  'class-grade-book': ['registration', 'result'],
  'collection-trend': ['fee_receipt'],
  'outstanding-ageing': ['class', 'fee_concession', 'fee_due', 'fee_receipt', 'registration'],
  'attendance-shortage': ['attendance', 'class', 'holiday', 'registration'],
  'day-sheet': ['attendance', 'class', 'holiday', 'registration'],
  strength: ['class', 'registration'],
  'teacher-workload': ['attendance', 'class', 'pltf_user', 'registration', 'teacher_attendance'],
};
