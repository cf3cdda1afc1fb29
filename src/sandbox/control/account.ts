import { z } from 'zod';
import { regenerateKey, updateCompany } from '../records/workspace/companies.ts';
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
    summary: 'Have the key rejected on every call, 401',
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
