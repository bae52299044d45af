/** The list of all reports, in the order of reports.md. */
import { classAttendance } from './class-attendance.js';
import { dailyFeeCollection } from './daily-fee-collection.js';
import { dailyUniqueSms } from './daily-unique-sms.js';
import { daySheet } from './day-sheet.js';
import type { Report } from './engine/report.js';
import { feeDefaulters, outstandingAgeing } from './fee-defaulters.js';
import { feeSummary } from './fee-summary.js';
import { classGradeBook, gradeBook } from './grade-book.js';
import { leaveRequests } from './leave-requests.js';
import { collectionTrend, rolledBackReceipts } from './rolled-back-receipts.js';
import { classesByCategory, strength } from './strength.js';
import { student } from './student.js';
import { attendanceShortage, studentAttendance } from './student-attendance.js';
import { studentConcession } from './student-concession.js';
import { teacherAttendance } from './teacher-attendance.js';
import { teachers, teacherWorkload } from './teachers.js';

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
