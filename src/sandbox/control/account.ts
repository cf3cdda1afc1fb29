import { z } from 'zod';
import { isPhone } from '../../partner/contract/shapes.ts';
import { userStatuses } from '../../partner/contract/users.ts';
import { runDueTasks } from '../background.ts';
import { invalidRequest } from '../context.ts';
import { Fault, FaultPlan } from '../faults.ts';
import { bornCompany, TEST_KEY } from '../prepare.ts';
import { quirkNames } from '../quirks.ts';
import { createSite, linkedSites, setNumberVerified, setSiteLinked, verifiedNumbers } from '../records/campaigns.ts';
import { companyByKey, regenerateKey, updateCompany } from '../records/companies.ts';
import { redeliver } from '../records/deliveries.ts';
import { nextTaskAt } from '../records/tasks.ts';
import { createTeam, createUser, setUserStatus, setUserTeams } from '../records/users.ts';
import { seedCompany } from '../seed/seed.ts';
import { defineAction, NoInput } from './action.ts';

const credits = z.int().min(0);

export const account = {
  showCompany: defineAction({
    summary: 'Key, webhook settings and credits of the company',
    input: NoInput,
    run: (ctx) => ctx.company,
  }),

  regenerateKey: defineAction({
    summary: 'Make a new API key; the old one is invalid at once',
    input: NoInput,
    run: (ctx) => ({ key: regenerateKey(ctx.state, ctx.company.id).apiKey }),
  }),

  activateKey: defineAction({
    summary: 'Make the key work again',
    input: NoInput,
    run: (ctx) => updateCompany(ctx.state, ctx.company.id, { keyActive: true }),
  }),

  deactivateKey: defineAction({
    summary: 'Reject the key on every call, 401',
    input: NoInput,
    run: (ctx) => updateCompany(ctx.state, ctx.company.id, { keyActive: false }),
  }),

  deactivateAccount: defineAction({
    summary: 'End the subscription, 403 ACCOUNT_INACTIVE on every call',
    input: NoInput,
    run: (ctx) => updateCompany(ctx.state, ctx.company.id, { accountActive: false }),
  }),

  reactivateAccount: defineAction({
    summary: 'Renew the subscription',
    input: NoInput,
    run: (ctx) => updateCompany(ctx.state, ctx.company.id, { accountActive: true }),
  }),

  setWebhook: defineAction({
    summary: 'Set URL and key of the webhook; null switches it off, an absent field stays',
    input: z.strictObject({
      url: z
        .url({ protocol: /^https?$/ })
        .nullable()
        .optional(),
      key: z.string().nullable().optional(),
    }),
    run(ctx, { url, key }) {
      const fields = {
        ...(url === undefined ? {} : { webhookUrl: url }),
        ...(key === undefined ? {} : { webhookKey: key }),
      };
      return updateCompany(ctx.state, ctx.company.id, fields);
    },
  }),

  setCredits: defineAction({
    summary: 'Set the balances; an absent one stays',
    input: z.strictObject({ credits: credits.optional(), onboardingCredits: credits.optional() }),
    run(ctx, given) {
      return updateCompany(
        ctx.state,
        ctx.company.id,
        Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      );
    },
  }),
};

export const workspace = {
  inviteUser: defineAction({
    summary: 'Invite somebody into the workspace, or add them with another status',
    input: z.strictObject({
      email: z.email(),
      firstName: z.string().optional(),
      lastName: z.string().optional(),
      status: z.enum(userStatuses).optional(),
      role: z.string().optional(),
      isCompanyAdmin: z.boolean().optional(),
      teamIds: z.array(z.string()).optional(),
    }),
    run: (ctx, input) => createUser(ctx, input),
  }),

  setUserStatus: defineAction({
    summary: 'Accept an invitation (ACTIVE), or let it expire (EXPIRED)',
    input: z.strictObject({ userId: z.string(), status: z.enum(userStatuses) }),
    run: (ctx, { userId, status }) => setUserStatus(ctx, userId, status),
  }),

  setUserTeams: defineAction({
    summary: 'Put a user into these teams, and remove them from all others',
    input: z.strictObject({ userId: z.string(), teamIds: z.array(z.string()) }),
    run: (ctx, { userId, teamIds }) => setUserTeams(ctx, userId, teamIds),
  }),

  createTeam: defineAction({
    summary: 'Create a team',
    input: z.strictObject({ name: z.string().trim().min(1) }),
    run: (ctx, { name }) => createTeam(ctx, name),
  }),

  createSite: defineAction({
    summary: "Create a site; linked means assigned to the API key's user",
    input: z.strictObject({
      name: z.string().trim().min(1),
      timezone: z.string().default('Europe/London'),
      linked: z.boolean().default(true),
    }),
    run: (ctx, input) => createSite(ctx, input),
  }),

  linkSite: defineAction({
    summary: "Assign a site to the API key's user, or remove it",
    input: z.strictObject({ siteId: z.int(), linked: z.boolean().default(true) }),
    run(ctx, { siteId, linked }) {
      setSiteLinked(ctx, siteId, linked);
      return { sites: linkedSites(ctx) };
    },
  }),

  verifyNumber: defineAction({
    summary: 'Verify an outbound number for campaigns, or withdraw it',
    input: z.strictObject({
      phoneNumber: z.string().refine(isPhone, 'must be a phone number'),
      verified: z.boolean().default(true),
    }),
    run(ctx, { phoneNumber, verified }) {
      setNumberVerified(ctx, phoneNumber, verified);
      return { phoneNumbers: verifiedNumbers(ctx) };
    },
  }),

  listVerifiedNumbers: defineAction({
    summary: 'The outbound numbers a campaign may call from',
    input: NoInput,
    run: (ctx) => ({ phoneNumbers: verifiedNumbers(ctx) }),
  }),
};

const count = z.int().min(0).max(1_000_000).optional();

export const machinery = {
  seed: defineAction({
    summary: 'Add invented jobs, candidates on them, and people hired long ago; no events',
    input: z.strictObject({ jobs: count, candidates: count, hired: count }),
    run: (ctx, order) => seedCompany(ctx, order),
  }),

  createCompany: defineAction({
    summary: 'Create another company with its own key',
    input: z.strictObject({ name: z.string().min(1), key: z.string().regex(TEST_KEY).optional() }),
    run(ctx, { name, key }) {
      if (key !== undefined && companyByKey(ctx.state, key) !== undefined)
        throw invalidRequest('The key belongs to another company', { key: 'taken' });
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
    summary: 'Send a logged delivery once more, with the same body, regardless of its result',
    input: z.strictObject({ deliveryId: z.int() }),
    run: (ctx, { deliveryId }) => redeliver(ctx, deliveryId),
  }),

  setQuirks: defineAction({
    summary: 'Show these quirks from now on, or all of them; an empty list ends them',
    input: z.strictObject({ quirks: z.union([z.literal('all'), z.array(z.enum(quirkNames))]) }),
    run({ state }, { quirks }) {
      state.quirks.set(quirks === 'all' ? quirkNames : quirks);
      return { quirks: state.quirks.list() };
    },
  }),

  advanceClock: defineAction({
    summary: 'Move a stepped clock; tasks due on the way run in order',
    input: z.strictObject({ ms: z.int().min(0) }),
    run({ state }, { ms }) {
      const end = state.clock.now() + ms;
      // Task by task: a task that leads to another runs it at its own time.
      for (let next = nextTaskAt(state); next !== undefined && next <= end; next = nextTaskAt(state)) {
        state.advance(Math.max(0, next - state.clock.now()));
        runDueTasks(state);
      }
      state.advance(end - state.clock.now());
      return { now: state.clock.now() };
    },
  }),
};
