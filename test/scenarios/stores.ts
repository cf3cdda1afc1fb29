import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { takeApplicants, untilBaseline, untilHired } from '../harness/hiring.ts';
import { type Applicant, until, type World } from '../harness/world.ts';
import { listHolds, type Scenario, untilEffects, untilHires } from './scenario.ts';

function hire(world: World, people: readonly Applicant[]) {
  return world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
}

const OTHER_KEY = 'sk_test_otherOther0other1other';

export const stores: Scenario[] = [
  {
    name: 'store deleted in mid-flight and rebuilt by its first reconcile',
    expected: { enrolments: 5, credits: 5, employees: 5, holds: 1, verified: 5 },
    ownStart: true,
    world: { hired: 3, candidates: 20 },
    async run(world) {
      const parts = await Promise.all([world.startReceiver(), world.startWorker()]);
      await untilBaseline(world);
      const people = await takeApplicants(world, 5);
      await hire(world, people.slice(0, 2));
      await untilHired(world, 2);
      await hire(world, people.slice(2));
      await untilEffects(world, 'enrolment', 5);
      await Promise.all(parts.map((part) => part.kill()));
      for (const end of ['', '-wal', '-shm']) await rm(join(world.dataDir, `store.db${end}`), { force: true });
      await Promise.all([world.startReceiver(), world.startWorker()]);
      await untilHired(world, 5);
      const [hold] = (await listHolds(world)).filter((one) => one.code === 'REBUILT_BASELINE');
      const named = hold?.details['jobCandidateIds'];
      if (!Array.isArray(named) || named.length !== 3) throw new Error('the hold does not name the three others');
      await untilHires(world, 'before-go-live', 3);
    },
  },
  {
    name: 'tenant switched to another company’s valid key',
    expected: { enrolments: 2, credits: 2, employees: 0, holds: 0, verified: 0 },
    ownStart: true,
    world: {
      sandbox: { otherKey: OTHER_KEY },
      policies: 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 2s }\n  cancel: { grace: 1s }',
    },
    async run(world) {
      const parts = await Promise.all([world.startReceiver(), world.startWorker()]);
      await untilBaseline(world);
      const people = await takeApplicants(world, 3);
      await hire(world, people.slice(0, 2));
      await untilEffects(world, 'enrolment', 2);
      await Promise.all(parts.map((part) => part.stop()));
      await writeFile(join(world.tenantsDir, 'secrets', 'partner.key'), `${OTHER_KEY}\n`);
      await Promise.all([world.startReceiver(), world.startWorker()]);
      await hire(world, people.slice(2));
      const status = await until('the pause', async () => {
        const { stdout } = await world.cli(['status', '--verbose']);
        return stdout.includes('COMPANY_MISMATCH') ? stdout : undefined;
      });
      await pause(5_000);
      if (!status.includes('partner.apiKey')) throw new Error('the error does not say what to do');
      const errors = (await world.logs()).split('\n').filter((line) => line.includes('tenant paused'));
      if (errors.length !== 1) throw new Error(`${errors.length} errors instead of one`);
      const done = await world.control.counts({ kind: 'effect' });
      const ended = Object.keys(done['effect'] ?? {}).filter((name) => name.includes('terminat'));
      if (ended.length > 0) throw new Error(`effects: ${ended.join(', ')}`);
      const { stdout } = await world.cli(['status', '--json']);
      if (stdout.includes('"left"')) throw new Error('a hire was cancelled');
    },
  },
];
