/** The list of all reports, in the order of reports.md. */
import { attendanceShortage } from './attendance-shortage.js';
import { classAttendance } from './class-attendance.js';
import { classGradeBook } from './class-grade-book.js';
import { classesByCategory } from './classes-by-category.js';
import { collectionTrend } from './collection-trend.js';
import { dailyFeeCollection } from './daily-fee-collection.js';
import { dailyUniqueSms } from './daily-unique-sms.js';
import { daySheet } from './day-sheet.js';
import type { Report } from './engine/report.js';
import { feeDefaulters } from './fee-defaulters.js';
import { feeSummary } from './fee-summary.js';
import { gradeBook } from './grade-book.js';
import { leaveRequests } from './leave-requests.js';
import { outstandingAgeing } from './outstanding-ageing.js';
import { rolledBackReceipts } from './rolled-back-receipts.js';
import { strength } from './strength.js';
import { student } from './student.js';
import { studentAttendance } from './student-attendance.js';
import { studentConcession } from './student-concession.js';
import { teacherAttendance } from './teacher-attendance.js';
import { teacherWorkload } from './teacher-workload.js';
import { teachers } from './teachers.js';

export const reports: readonly Report[] = [
  feeDefaulters,
  dailyFeeCollection,
  feeSummary,
  studentConcession,
  leaveRequests,
  dailyUniqueSms,
  rolledBackReceipts,
  classesByCategory,
  classAttendance,
  studentAttendance,
  student,
  teachers,
  teacherAttendance,
  gradeBook,
  classGradeBook,
  collectionTrend,
  outstandingAgeing,
  attendanceShortage,
  daySheet,
  strength,
  teacherWorkload,
];
