import { z } from 'zod';
import { isPhone } from '../../partner/contract/shapes.ts';
import { userStatuses } from '../../partner/contract/users.ts';
import {
  createSite,
  linkedSites,
  setNumberVerified,
  setSiteLinked,
  verifiedNumbers,
} from '../records/campaigns/sites.ts';
import { createTeam } from '../records/workspace/teams.ts';
import { createUser, setUserStatus, setUserTeams } from '../records/workspace/users.ts';
import { defineAction, NoInput } from './action.ts';

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
    summary: 'Put a user into teams, and out of all others',
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
    summary: "Assign a site to the API key's user, or take it away",
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
