import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { notFound, WorkspaceError } from '../../errors.ts';
import { stableUuid } from '../../random.ts';

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
