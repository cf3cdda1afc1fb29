import { creditsOf, describeObserved } from '../../hire/observed.ts';
import type { ObservedHire } from '../../operator/tenants/observed-hires.ts';
import { renderTable } from '../table.ts';

/** So many are shown one by one. */
const MOST_SHOWN = 200;

/** Who was hired while a tenant only observed, what each would come to, and what they cost together. */
export function renderObserved(hires: readonly ObservedHire[]): string {
  const rows = hires
    .slice(0, MOST_SHOWN)
    .map(({ jobCandidateId, jobId, firstSeenAt, observed }) => [
      jobCandidateId,
      jobId ?? '-',
      firstSeenAt,
      describeObserved(observed),
    ]);
  const more = hires.length > MOST_SHOWN ? [`... and ${hires.length - MOST_SHOWN} more`] : [];
  const sum = `${hires.length} hired while it only observed; starting them costs at most ${creditsOf(hires)} credits.`;
  return `${[renderTable(['job candidate', 'job', 'first seen', 'would'], rows), ...more, sum].join('\n')}\n`;
}
