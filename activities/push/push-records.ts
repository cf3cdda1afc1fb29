import { endPushRun } from '../../src/store/quarantine.ts';
import { readStream } from '../../src/store/streams.ts';
import { stepOf } from '../../src/streams/page-outcome.ts';
import type { PushInput, StreamStep } from '../../src/streams/stream-activities.ts';
import type { PushName } from '../../src/streams/streams.ts';
import { pushAccounts } from '../accounts/push-accounts.ts';
import { pushCalendar } from '../calendar/push-calendar.ts';
import type { ActivityDeps } from '../connections.ts';
import { pushDocuments } from '../documents/push-documents.ts';
import { pushEmployment } from '../employment/push-employment.ts';
import { pushInvitations } from '../invitations/push-invitations.ts';
import { pushOptions } from '../options/push-options.ts';
import { pushRequisitions } from '../requisitions/push-requisitions.ts';
import { pushRescoring } from '../rescoring/push-rescoring.ts';
import { pushResults } from '../results/push-results.ts';
import { pushResumes } from '../resumes/push-resumes.ts';
import { pushSourcing } from '../sourcing/push-sourcing.ts';
import { type Beat, inRun, leftHints } from '../streams/reading.ts';
import type { PushContext } from './push-context.ts';

/** Does a pass; false if it looked only at records with hints, so that what is told of others still holds. */
const pushers: Record<PushName, (run: PushContext) => Promise<boolean | void>> = {
  accounts: pushAccounts,
  calendar: pushCalendar,
  documents: pushDocuments,
  employment: pushEmployment,
  invitations: pushInvitations,
  options: pushOptions,
  requisitions: pushRequisitions,
  rescoring: pushRescoring,
  results: pushResults,
  resumes: pushResumes,
  sourcing: pushSourcing,
};

/** One pass of a push stream. A repeat finds finished records in the store, so nothing is done twice. */
export function pushRecords(deps: ActivityDeps, input: PushInput, beat: Beat = () => undefined): Promise<StreamStep> {
  const { tenantId, stream, runId, full, hinted = false } = input;
  const key = { tenantId, stream };
  return inRun<StreamStep>(deps, input, {
    begins: async () => ({ full, firstPage: 0 }),
    stepOf,
    async work(connection) {
      const run: PushContext = {
        deps,
        connection,
        key,
        runId,
        full,
        hinted,
        beat: () => beat({ runId }),
        verdicts: new Map(),
        waitMs: 0,
      };
      const isWhole = (await pushers[stream](run)) !== false;
      if (!(await endPushRun(deps.store, key, runId, { verdicts: [...run.verdicts.values()], isWhole })))
        return { state: 'superseded' };
      const ended = await readStream(deps.store, key);
      if (ended?.run_id !== runId) return { state: 'superseded' };
      return { ...stepOf(ended), ...(await leftHints({ deps, key }, ended)) };
    },
  });
}
