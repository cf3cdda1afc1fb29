/** Section 4.11: workspace users and teams. */
import { findTeam, listTeams } from '../records/workspace/teams.ts';
import { findUser, listUsers, type User } from '../records/workspace/users.ts';
import { type OperationTree, success } from './operation.ts';

/** The two names a filter may use instead of the display name (U2, assumed). */
const ROLE_NAMES: Record<string, string> = { SUPER_ADMIN: 'Super Admin', ADMIN: 'Admin' };

interface Filters {
  status?: string[] | undefined;
  role?: string | undefined;
  isCompanyAdmin?: boolean | undefined;
  search?: string | undefined;
}

export const users = {
  list(ctx, { query: { page, perPage, ...filters } }) {
    const found = listUsers(ctx).filter((user) => matches(user, filters));
    return success(found.slice((page - 1) * perPage, page * perPage), {
      pagination: { page, perPage, total: found.length },
    });
  },

  get: (ctx, { params }) => success(findUser(ctx, params.userId)),
} satisfies OperationTree['users'];

export const teams = {
  list: (ctx) => success(listTeams(ctx)),
  get: (ctx, { params }) => success(findTeam(ctx, params.teamId)),
} satisfies OperationTree['teams'];

/** `search` is trimmed and looks into one field at a time (U3, assumed). */
function matches(user: User, { status = [], role, isCompanyAdmin, search }: Filters): boolean {
  const wanted = search?.trim().toLowerCase() ?? '';
  return (
    (status.length === 0 || status.includes(user.status)) &&
    (role === undefined || user.role === (ROLE_NAMES[role] ?? role)) &&
    (isCompanyAdmin === undefined || user.isCompanyAdmin === isCompanyAdmin) &&
    [user.email, user.firstName, user.lastName].some((field) => field?.toLowerCase().includes(wanted))
  );
}
