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

/** Writes a person's answer and hints what waits for it. The store has it first: a reconcile makes up for a lost signal. */
export async function answerHold(
  { store, hires }: Pick<OperatorParts, 'store' | 'hires'>,
  { holdId, answer, arguments: args }: { holdId: string; answer: string; arguments: string[] },
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
  if (!(await writeAnswer(store, holdId, answer, args)))
    throw refused('HOLD_ANSWERED', `Hold ${holdId} is answered already; the first answer stands.`);
  if (hold.job_candidate_id === null) return answerTenantHold(store, hires, hold.tenant_id, holdId, answer, args);
  await signalHire(hires, { tenantId: hold.tenant_id, jobCandidateId: hold.job_candidate_id }, 'answer', {
    start: true,
  });
}

/** A hold of the whole tenant: the hires named are taken up, the others stay as they are. */
async function answerTenantHold(
  store: Store,
  hires: HireClient,
  tenantId: string,
  holdId: string,
  answer: string,
  args: readonly string[],
): Promise<void> {
  if (answer === 'retry') await retryEnrolments(store, hires, tenantId);
  if (answer === 'adopt')
    for (const jobCandidateId of args)
      await signalHire(hires, { tenantId, jobCandidateId }, 'person', { start: true, adopt: true });
  await closeHold(store, holdId);
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
