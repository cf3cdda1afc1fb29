import { z } from 'zod';
import { runDueTasks } from '../background.ts';
import { invalidRequest } from '../errors.ts';
import { Fault, FaultPlan } from '../faults.ts';
import { bornCompany, TEST_KEY } from '../prepare.ts';
import { quirkNames } from '../quirks.ts';
import { redeliver } from '../records/platform/deliveries.ts';
import { nextTaskAt } from '../records/platform/tasks.ts';
import { companyByKey } from '../records/workspace/companies.ts';
import { seedCompany } from '../seed/seed.ts';
import { defineAction, NoInput } from './action.ts';

const count = z.int().min(0).max(1_000_000).optional();

export const machinery = {
  seed: defineAction({
    summary: 'Add invented jobs, candidates on them, and people hired long ago; no events',
    input: z.strictObject({ jobs: count, candidates: count, hired: count }),
    run: (ctx, order) => seedCompany(ctx, order),
  }),

  createCompany: defineAction({
    summary: 'Another company with a key of its own',
    input: z.strictObject({ name: z.string().min(1), key: z.string().regex(TEST_KEY).optional() }),
    run(ctx, { name, key }) {
      if (key !== undefined && companyByKey(ctx.state, key) !== undefined)
        throw invalidRequest('The key is that of another company', { key: 'taken' });
      return bornCompany(ctx.state, name, key);
    },
  }),

  setFaults: defineAction({
    summary: 'Replace the plan of faults; counting starts anew',
    input: FaultPlan,
    run(ctx, plan) {
      ctx.state.faults.set(plan);
      return { faults: ctx.state.faults.list() };
    },
  }),

  addFault: defineAction({
    summary: 'Add one fault to the plan',
    input: Fault,
    run(ctx, fault) {
      ctx.state.faults.add([fault]);
      return { faults: ctx.state.faults.list() };
    },
  }),

  clearFaults: defineAction({
    summary: 'Switch all faults off',
    input: NoInput,
    run(ctx) {
      ctx.state.faults.clear();
      return { faults: [] };
    },
  }),

  redeliver: defineAction({
    summary: 'Send a delivery of the log once more, with the same body, whatever became of it',
    input: z.strictObject({ deliveryId: z.int() }),
    run: (ctx, { deliveryId }) => redeliver(ctx, deliveryId),
  }),

  setQuirks: defineAction({
    summary: 'Have the partner show these quirks from now on, or all of them; an empty list ends them',
    input: z.strictObject({ quirks: z.union([z.literal('all'), z.array(z.enum(quirkNames))]) }),
    run({ state }, { quirks }) {
      state.quirks.set(quirks === 'all' ? quirkNames : quirks);
      return { quirks: state.quirks.list() };
    },
  }),

  advanceClock: defineAction({
    summary: 'Move a stepped clock; what was due on the way happens in order',
    input: z.strictObject({ ms: z.int().min(0) }),
    run({ state }, { ms }) {
      const end = state.clock.now() + ms;
      // Task by task: one that leads to another has it happen at its own time.
      for (let next = nextTaskAt(state); next !== undefined && next <= end; next = nextTaskAt(state)) {
        state.advance(Math.max(0, next - state.clock.now()));
        runDueTasks(state);
      }
      state.advance(end - state.clock.now());
      return { now: state.clock.now() };
    },
  }),
};
