import type { Cases } from './case.ts';
import { NOBODY, SOMEBODY_ELSE } from './records.ts';
import type { World } from './world.ts';

/** Sections 2.10, 2.11, 4.10, 4.11. */
const PHONE = '+639170000001';

/** A campaign's body; its site and number are made ready first. */
export async function campaign(world: World) {
  await world.control.act('verifyNumber', { phoneNumber: PHONE });
  const site = await world.control.act('createSite', { name: `Site ${String(world.next())}` });
  const messages = { openingMessage: 'Hello', closingMessage: 'Goodbye' };
  const about = { title: 'Reminder', timezone: 'Asia/Manila', purposeType: 'ASSESSMENT_REMINDER' as const };
  return { ...about, ...messages, companySiteId: site.id, phoneNumber: PHONE };
}

async function newCampaign(world: World): Promise<{ campaignId: string }> {
  return { campaignId: (await world.partner.campaigns.create({ body: await campaign(world) })).campaign.id };
}

const leads = [{ firstName: 'Ada', phone: '+4790000000' }];

export const siteCases: Cases<'sites'> = {
  list: {
    success: async (world) => {
      await campaign(world);
      return {};
    },
    refusals: {},
  },
};

export const campaignCases: Cases<'campaigns'> = {
  list: {
    success: async (world) => {
      await newCampaign(world);
      return { query: { purposeType: 'ASSESSMENT_REMINDER' } };
    },
    refusals: { INVALID_REQUEST: () => ({ query: { limit: 0 } }) },
  },
  get: {
    success: async (world) => ({ params: await newCampaign(world) }),
    refusals: { NOT_FOUND: () => ({ params: { campaignId: 'abc' } }) },
  },
  create: {
    success: async (world) => ({ body: await campaign(world) }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ body: { ...(await campaign(world)), phoneNumber: '+15550000000' } }),
      NOT_FOUND: async (world) => ({
        body: { ...(await campaign(world)), jobDetails: { assessmentTestId: SOMEBODY_ELSE } },
      }),
    },
  },
  addLeads: {
    success: async (world) => ({ params: await newCampaign(world), body: { leads } }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ params: await newCampaign(world), body: { leads, unknown: true } }),
      NOT_FOUND: () => ({ params: { campaignId: NOBODY }, body: { leads } }),
    },
  },
  listLeads: {
    success: async (world) => {
      const params = await newCampaign(world);
      await world.partner.campaigns.addLeads({ params, body: { leads } });
      return { params };
    },
    refusals: { NOT_FOUND: () => ({ params: { campaignId: NOBODY } }) },
  },
};

export const userCases: Cases<'users'> = {
  list: {
    success: async (world) => {
      await newUser(world);
      return { query: { status: ['INVITED'], search: 'USER' } };
    },
    refusals: { INVALID_REQUEST: () => ({ query: { perPage: 101 } }) },
  },
  get: {
    success: async (world) => ({ params: { userId: await newUser(world) } }),
    refusals: { NOT_FOUND: () => ({ params: { userId: SOMEBODY_ELSE } }) },
  },
};

async function newUser(world: World): Promise<string> {
  const email = `user.${String(world.next())}@example.com`;
  return String((await world.control.act('inviteUser', { email })).id);
}

export const teamCases: Cases<'teams'> = {
  list: {
    success: async (world) => {
      await newTeam(world);
      return {};
    },
    refusals: {},
  },
  get: {
    success: async (world) => ({ params: { teamId: await newTeam(world) } }),
    refusals: { NOT_FOUND: () => ({ params: { teamId: SOMEBODY_ELSE } }) },
  },
};

async function newTeam(world: World): Promise<string> {
  return String((await world.control.act('createTeam', { name: `Team ${String(world.next())}` })).id);
}
