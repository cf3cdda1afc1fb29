import type { userStatuses } from '../../partner/contract/users.ts';
import { type Context, effect, invalidRequest, notFound, WorkspaceError } from '../context.ts';
import { stableUuid } from '../random.ts';
import { emailKey } from './candidates.ts';

type UserStatus = (typeof userStatuses)[number];

interface UserFields {
  email: string;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
  status?: UserStatus | undefined;
  /** Display name. */
  role?: string | null | undefined;
  isCompanyAdmin?: boolean | undefined;
  invitedById?: string | null | undefined;
  teamIds?: readonly string[] | undefined;
  reportingManagerId?: string | null | undefined;
}

interface Row {
  id: string;
  email: string;
  firstName: string | null;
  lastName: string | null;
  status: UserStatus;
  role: string | null;
  isCompanyAdmin: number;
  invitedById: string | null;
  teamIds: string;
  reportingManagerId: string | null;
}

/** Section 2.11, as answered. */
export interface User extends Omit<Row, 'isCompanyAdmin' | 'teamIds'> {
  isCompanyAdmin: boolean;
  teamId: string | null;
  teamIds: string[];
}

const USER = `select id, email, first_name as firstName, last_name as lastName, status, role,
  is_company_admin as isCompanyAdmin,
  invited_by_id as invitedById, team_ids as teamIds, reporting_manager_id as reportingManagerId from users`;

function toUser({ isCompanyAdmin, teamIds, reportingManagerId, ...row }: Row): User {
  const teams = JSON.parse(teamIds) as string[];
  return {
    ...row,
    // Section 2.11: always false for invited users, also those whose invitation has expired.
    isCompanyAdmin: isCompanyAdmin === 1 && row.status === 'ACTIVE',
    teamId: teams[0] ?? null,
    teamIds: teams,
    reportingManagerId,
  };
}

/** A member of the workspace, invited unless said otherwise; an e-mail is in it once. */
export function createUser(ctx: Context, input: UserFields): User {
  const { state, company } = ctx;
  const email = emailKey(input.email);
  if (state.one('select 1 from users where company_id = ? and email = ?', company.id, email) !== undefined)
    throw invalidRequest('This e-mail is in the workspace already', { email: 'taken' });
  for (const id of input.teamIds ?? []) requireTeam(ctx, id);
  const seq = state.nextId('user');
  const id = stableUuid(state.seed, 'user', seq);
  state.run(
    `insert into users (id, company_id, seq, email, first_name, last_name, status, role, is_company_admin,
      invited_by_id, team_ids, reporting_manager_id)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    seq,
    email,
    input.firstName ?? null,
    input.lastName ?? null,
    input.status ?? 'INVITED',
    input.role ?? null,
    Number(input.isCompanyAdmin ?? false),
    input.invitedById ?? null,
    JSON.stringify(input.teamIds ?? []),
    input.reportingManagerId ?? null,
  );
  effect(ctx, 'user', id);
  return findUser(ctx, id);
}

/** By creation (U4, assumed). */
export function listUsers(ctx: Context): User[] {
  return ctx.state.all<Row>(`${USER} where company_id = ? order by seq`, ctx.company.id).map(toUser);
}

/** 404 in the flat body when it is not of this workspace (G4, assumed). */
export function findUser(ctx: Context, id: string): User {
  const row = ctx.state.one<Row>(`${USER} where id = ? and company_id = ?`, id, ctx.company.id);
  if (row === undefined) throw new WorkspaceError('NOT_FOUND', 'User not found');
  return toUser(row);
}

export function setUserStatus(ctx: Context, id: string, status: UserStatus): User {
  findUser(ctx, id);
  ctx.state.run('update users set status = ? where id = ?', status, id);
  return findUser(ctx, id);
}

export function setUserTeams(ctx: Context, id: string, teamIds: readonly string[]): User {
  findUser(ctx, id);
  for (const team of teamIds) requireTeam(ctx, team);
  ctx.state.run('update users set team_ids = ? where id = ?', JSON.stringify([...new Set(teamIds)]), id);
  return findUser(ctx, id);
}

export interface Team {
  id: string;
  name: string;
  /** Epoch ms (U5, assumed). */
  createdAt: number;
  createdBy: string | null;
  userCount: number;
}

const TEAM = `select id, name, created_at as createdAt, created_by as createdBy,
  (select count(*) from users, json_each(users.team_ids) where users.company_id = teams.company_id
    and value = teams.id) as userCount
  from teams`;

export function createTeam(ctx: Context, name: string, createdBy: string | null = null): Team {
  const { state, company, now } = ctx;
  const seq = state.nextId('team');
  const id = stableUuid(state.seed, 'team', seq);
  state.run(
    'insert into teams (id, company_id, seq, name, created_at, created_by) values (?, ?, ?, ?, ?, ?)',
    id,
    company.id,
    seq,
    name,
    now,
    createdBy,
  );
  effect(ctx, 'team', id);
  return { id, name, createdAt: now, createdBy, userCount: 0 };
}

/** By creation (U4, assumed). */
export function listTeams(ctx: Context): Team[] {
  return ctx.state.all<Team>(`${TEAM} where company_id = ? order by seq`, ctx.company.id);
}

function teamById(ctx: Context, id: string): Team | undefined {
  return ctx.state.one<Team>(`${TEAM} where id = ? and company_id = ?`, id, ctx.company.id);
}

/** 404 in the flat body when it is not of this workspace (G4, assumed). */
export function findTeam(ctx: Context, id: string): Team {
  const team = teamById(ctx, id);
  if (team === undefined) throw new WorkspaceError('NOT_FOUND', 'Team not found');
  return team;
}

/** The same for other families: 404 in the canonical body. */
export function requireTeam(ctx: Context, id: string): Team {
  const team = teamById(ctx, id);
  if (team === undefined) throw notFound('Team');
  return team;
}
