import { actButton } from './acts.js';
import { badge, day, external, make, minute, table } from './dom.js';

export function applicationRows(rows) {
  const lines = rows.map((row) => ({
    href: `#/applications/${row.id}`,
    cells: [row.job, badge(row.rejected === 1 ? 'REJECTED' : row.stageType), day(row.appliedAt ?? row.addedAt)],
  }));
  return table(['Job', 'Stage', 'Since'], lines, 'On no job.');
}

export function interviewRows(rows) {
  const lines = rows.map((row) => ({
    href: `#/interviews/${row.id}`,
    cells: [row.assessment, badge(row.status), row.score ?? '', minute(row.invitedAt)],
  }));
  return table(['Interview', 'Status', 'Score', 'Invited'], lines, 'Not invited.');
}

export function enrolmentRows(rows) {
  const lines = rows.map((row) => ({
    href: `#/enrolments/${row.id}`,
    cells: [row.flow, badge(row.status), day(row.enrolledAt)],
  }));
  return table(['Flow', 'Status', 'Enrolled'], lines, 'Not enrolled.');
}

/** What can be done to an appointment that is not over. */
export function bookingActs({ id, scheduleId, status }) {
  if (status !== 'BOOKED') return '';
  const given = { bookingId: id };
  const lists = { scheduledStartAt: `slots/${scheduleId}` };
  return make(
    'span',
    { className: 'inline' },
    actButton('Reschedule', 'rescheduleBooking', { given, lists, tone: 'quiet' }),
    actButton('Check in', 'checkIn', { given, ask: [], tone: 'quiet' }),
    actButton('No show', 'markNoShow', { given, ask: [], tone: 'quiet' }),
    actButton('Cancel', 'cancelBooking', { given, ask: [], tone: 'quiet' }),
  );
}

export function bookingRows(rows, links) {
  const booked = rows.map((row) => ({
    cells: [row.schedule, badge(row.status), minute(row.startAt), bookingActs(row)],
  }));
  const open = links.filter(({ status }) => status === 'ACTIVE');
  const sent = open.map(({ id, schedule, url }) => ({
    cells: [
      schedule,
      badge('SENT'),
      external(url, 'Open the booking page'),
      actButton('Revoke', 'revokeBookingLink', { given: { bookingLinkId: id }, ask: [], tone: 'quiet' }),
    ],
  }));
  return table(['For', 'Status', 'When', 'Actions'], [...booked, ...sent], 'Nothing booked, no link sent.');
}
