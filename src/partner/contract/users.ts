/** Sections 2.11, 4.11: workspace users and teams. Their error bodies are flat (G4). */
import { z } from 'zod';
import { defineEndpoint, errorsOf, refusal, statusData, statusList, statusPage } from './endpoint.ts';
import {
  Email,
  EpochTime,
  LooseNumber,
  openEnum,
  pathText,
  queryBoolean,
  queryInteger,
  queryList,
  TextId,
} from './shapes.ts';
export const userStatuses = ['ACTIVE', 'INVITED', 'EXPIRED'] as const;

const User = z
  .looseObject({
    id: TextId,
    email: Email.nullish(),
    firstName: z.string().nullish(),
    lastName: z.string().nullish(),
    status: openEnum(userStatuses).nullish(),
    role: z.string().nullish(),
    isCompanyAdmin: z.boolean().nullish(),
    invitedById: TextId.nullish(),
    teamId: TextId.nullish(),
    teamIds: z.array(TextId).nullish(),
    reportingManagerId: TextId.nullish(),
  })
  .meta({ id: 'User' });

const Team = z
  .looseObject({
    id: TextId,
    name: z.string().nullish(),
    createdAt: EpochTime.nullish(),
    createdBy: TextId.nullish(),
    userCount: LooseNumber.nullish(),
  })
  .meta({ id: 'Team' });

const notInWorkspace = refusal('NOT_FOUND', 'not in the workspace', { shape: 'workspace' });

export const users = {
  list: defineEndpoint({
    id: 'users.list',
    method: 'GET',
    path: '/users',
    section: '4.11',
    summary: 'List workspace users',
    query: z.object({
      page: queryInteger({ min: 1 }).default(1),
      perPage: queryInteger({ min: 1, max: 100 }).default(20),
      status: queryList(z.enum(userStatuses)).optional(),
      role: z.string().optional(),
      isCompanyAdmin: queryBoolean().optional(),
      search: z.string().optional(),
    }),
    status: 200,
    envelope: 'status-data',
    response: statusPage('data.users'),
    list: {
      itemsAt: 'data',
      item: User,
      idKey: 'id',
      paging: {
        pageParam: 'page',
        firstPage: 1,
        sizeParam: 'perPage',
        sizes: { max: 100 },
        end: { totalAt: 'pagination.total' },
      },
    },
    errors: errorsOf(
      refusal('INVALID_REQUEST', 'page, perPage, status or isCompanyAdmin outside its values', { shape: 'workspace' }),
    ),
    assumed: ['G4', 'G9', 'U1', 'U2', 'U3', 'U4'],
  }),
  get: defineEndpoint({
    id: 'users.get',
    method: 'GET',
    path: '/users/:userId',
    section: '4.11',
    summary: 'Get a user',
    params: z.object({ userId: pathText() }),
    status: 200,
    envelope: 'status-data',
    response: statusData(User),
    errors: errorsOf(notInWorkspace),
    assumed: ['G4'],
  }),
};

export const teams = {
  list: defineEndpoint({
    id: 'teams.list',
    method: 'GET',
    path: '/teams',
    section: '4.11',
    summary: 'List teams, without pages',
    status: 200,
    envelope: 'status-data',
    response: statusList('data.teams'),
    list: { itemsAt: 'data', item: Team, idKey: 'id' },
    errors: errorsOf(),
    assumed: ['U4', 'U5'],
  }),
  get: defineEndpoint({
    id: 'teams.get',
    method: 'GET',
    path: '/teams/:teamId',
    section: '4.11',
    summary: 'Get a team',
    params: z.object({ teamId: pathText() }),
    status: 200,
    envelope: 'status-data',
    response: statusData(Team),
    errors: errorsOf(notInWorkspace),
    assumed: ['G4', 'U5'],
  }),
};
