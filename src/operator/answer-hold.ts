import { ConnectorError } from '../errors.ts';
import { entryOf } from '../hire/answers.ts';
import { releaseCanary } from '../store/credit-gate.ts';
import { hiresInState } from '../store/hires.ts';
import { closeHold, answerHold as writeAnswer } from '../store/holds.ts';
import type { Store } from '../store/open-store.ts';
import type { HireClient } from '../temporal/hire-client.ts';
import { signalHire } from '../temporal/signal-hire.ts';
import type { OperatorParts } from './operator-parts.ts';
import { readHoldRow } from './read-holds.ts';

/** Stores a person's answer, then hints what waits for it: a reconcile makes up for a lost signal. */
export async function answerHold(
  { store, hires }: Pick<OperatorParts, 'store' | 'hires'>,
  { holdId, answer, arguments: args, by }: { holdId: string; answer: string; arguments: string[]; by: string },
): Promise<void> {
  const hold = await readHoldRow(store, holdId);
  const accepted = JSON.parse(hold.answers) as string[];
  if (!accepted.includes(answer))
    throw refused(
      'ANSWER_UNKNOWN',
      `Hold ${holdId} (${hold.code}) takes one of: ${accepted.join(', ')}. "${answer}" is none of them.`,
    );
  const takes = entryOf(answer)?.takes;
  if (takes !== undefined && args.length === 0)
    throw refused(
      'ANSWER_INCOMPLETE',
      `The answer ${answer} needs an id: hirebridge hold answer ${holdId} ${answer} <${takes}>`,
    );
  if (!(await writeAnswer(store, holdId, { answer, arguments: args, by })))
    throw refused('HOLD_ANSWERED', `Hold ${holdId} is answered already; the first answer stands.`);
  const { tenant_id: tenantId, job_candidate_id: jobCandidateId } = hold;
  if (jobCandidateId !== null)
    return void (await signalHire(hires, { tenantId, jobCandidateId }, 'answer', { start: true }));
  if (answer === 'retry') await retryEnrolments(store, hires, tenantId);
  if (answer === 'adopt') await adoptHires(hires, tenantId, args);
  await closeHold(store, holdId);
}

/** Starts the hires that were named; the others stay as they are. */
async function adoptHires(hires: HireClient, tenantId: string, jobCandidateIds: readonly string[]): Promise<void> {
  for (const jobCandidateId of jobCandidateIds)
    await signalHire(hires, { tenantId, jobCandidateId }, 'person', { start: true, adopt: true });
}

/** Lets the next enrolment through as the canary, and hints those that wait. */
async function retryEnrolments(store: Store, hires: HireClient, tenantId: string): Promise<void> {
  await releaseCanary(store, tenantId);
  const open = await hiresInState(store, tenantId, 'open');
  for (const hire of open.filter((one) => one.step === 'await-credits'))
    await signalHire(hires, { tenantId, jobCandidateId: hire.job_candidate_id }, 'credits', { start: true });
}

function refused(code: string, message: string): ConnectorError {
  return new ConnectorError({ code, action: 'reject', message });
}
