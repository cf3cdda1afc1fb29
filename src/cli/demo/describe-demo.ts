import { join } from 'node:path';
import { renderTable } from '../table.ts';
import type { Up } from '../up/start-up.ts';
import type { Seen } from './play.ts';
import type { Streamed } from './play-streams.ts';
import type { Pulled } from './pulled.ts';
import type { Cast } from './recruiter.ts';
import type { DemoReport } from './report.ts';
import type { Stage } from './stage.ts';

/** How every hire ended, as a table. */
export function describeHires(cast: Cast, { views }: Seen): string {
  const rows = Object.values(cast).map((one) => {
    const view = views.find(({ jobCandidateId }) => jobCandidateId === String(one.jobCandidateId));
    const spent = view?.writtenAt === undefined ? '-' : ((view.writtenAt - view.hiredAt) / 1000).toFixed(1);
    const enrolment = view?.enrolmentIds.map((id) => id.slice(0, 8)).join(', ') ?? '';
    const number = view?.employees.map((employee) => employee.number).join(', ') ?? '';
    return [
      `${one.jobCandidateId} ${one.story}`,
      enrolment || '-',
      number || '-',
      view?.verified === true ? 'yes' : 'no',
      spent,
    ];
  });
  return renderTable(['hire', 'enrolment', 'employee number', 'written back and verified', 'seconds'], rows);
}

/** Where to look while the demo stays. */
export function describePlaces(stage: Stage, up: Up): string {
  return [
    `Temporal         ${up.temporal.uiUrl ?? up.temporal.address}`,
    `sandbox control  ${stage.controlUrl}`,
    `receiver health  ${up.urls.get('serve.health') ?? ''}/readyz`,
    `worker health    ${up.urls.get('worker.health') ?? ''}/readyz`,
    `tenant file      ${join(stage.tenantsDir, 'demo.yaml')}`,
    `log of its parts ${join(stage.dir, 'demo.log')}`,
    'Stays until Ctrl-C.',
  ].join('\n');
}

/** What was made, pulled and told, and what did not become equal. */
export function describeCounts(
  report: DemoReport & { pulled: Partial<Pulled>; diverged: number; seconds: Partial<Streamed['seconds']> },
): string {
  const { hires, enrolments, employees, writeBacksVerified, pulled, seconds } = report;
  const streamed = Object.entries(pulled).map(([name, { hris, partner }]) => `${hris} of ${partner} ${name}`);
  const made = `${hires} hires, ${enrolments} enrolments, ${employees} employees`;
  const line = `${made}, ${writeBacksVerified} written back and verified in ${seconds.hires} s.`;
  if (streamed.length === 0) return line;
  return [
    line,
    `${streamed.join(' and ')} pulled into the HR system's tables.`,
    `The position was a job after ${seconds.requisition} s, ` +
      `the corrected number back after ${seconds.correctedNumber} s.`,
    `The city, edited on both sides at once, was the same on both after ${seconds.crossedEdits} s.`,
    `Unequal at the end: ${report.diverged}.`,
  ].join('\n');
}
