import { startHttpProxy } from '../../src/hris-kit/http-proxy.ts';
import { takeApplicants, untilHired } from '../harness/hiring.ts';
import { isStopped } from '../harness/is-stopped.ts';
import { until, type World } from '../harness/world.ts';
import { startSshWire } from '../hris/counterparts/ssh-wire.ts';
import { type Scenario, startProduct, untilEffects } from './scenario.ts';

/** Late, and yet before the call's deadline: after it, a call that was cut off is one that never arrives. */
const FATES = [
  ['reset-before', 'never arrives'],
  ['answer-lost', 'is carried out, and its answer is lost'],
  ['executed-late', 'is carried out late'],
] as const;

const expected = { enrolments: 1, credits: 1, employees: 1, holds: 0, verified: 1 };

/** An employee of Tryton is made by two calls. */
const CALLS = { party: '"model.party.party.create"', employee: '"model.company.employee.create"' };

function onTryton(call: keyof typeof CALLS, [kind, fate]: (typeof FATES)[number]): Scenario {
  let struck: Promise<number> | undefined;
  return {
    name: `Tryton: the call that makes the ${call} ${fate}`,
    hris: 'tryton',
    expected,
    async between({ settings }) {
      const proxy = await startHttpProxy(String(settings['url']));
      struck = proxy.strike({ kind, on: ({ body }) => body.includes(CALLS[call]), ms: 2_000 });
      return { settings: { ...settings, url: proxy.url }, close: proxy.close };
    },
    async run(world) {
      await hireOne(world);
      await untilHired(world, 1);
      await struck;
    },
  };
}

/** A hire is handed over by a note that can be made once, and then by the file that says it is ready. */
const FILES = { note: 1, 'ready file': 2 };

/** On this wire everything is encrypted, so the worker is stopped directly before it sends the file that is meant. */
function onSftp(file: keyof typeof FILES, [kind, fate]: (typeof FATES)[number]): Scenario {
  let wire: Awaited<ReturnType<typeof startSshWire>> | undefined;
  return {
    name: `SFTP: the ${file} of a hire ${fate}`,
    hris: 'sftp',
    expected,
    ownStart: true,
    world: { env: { HIREBRIDGE_GIVE_UP_MS: '15000', HIREBRIDGE_REQUEST_MS: '4000' } },
    async between({ settings }) {
      wire = await startSshWire(Number(settings['port']));
      return { settings: { ...settings, port: wire.port }, close: wire.close };
    },
    async run(world) {
      const point = `applyPlan/deadline/after#${FILES[file]}`;
      const worker = await startProduct(world, false, { HIREBRIDGE_FAILPOINT_STOP: point });
      await hireOne(world);
      await untilEffects(world, 'enrolment', 1);
      await world.finishOnboardings();
      await until('the file to be under way', async () => isStopped(worker));
      const struck = wire?.strike(kind);
      worker.child.kill('SIGCONT');
      await untilHired(world, 1);
      await struck;
    },
  };
}

async function hireOne(world: World): Promise<void> {
  const jobCandidateIds = (await takeApplicants(world, 1)).map((one) => one.jobCandidateId);
  await world.control.act('move', { jobCandidateIds, stageType: 'HIRED' });
}

/** Calls to an HRIS whose answer never comes, on the kinds whose wire is not a database's: see test/lost-answers. */
export const lostAnswers: Scenario[] = FATES.flatMap((fate) => [
  onTryton('party', fate),
  onTryton('employee', fate),
  onSftp('note', fate),
  onSftp('ready file', fate),
]);
