import express from 'express';
import SCIMMY from 'scimmy';
import SCIMMYRouters from 'scimmy-routers';
import { startRestartable } from './restartable-server.ts';

export const SCIM_TOKEN = 'scim-token';
const EXTENSION = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';

/** A user as the server keeps it. */
export type ScimUser = Record<string, unknown> & { id: string; userName: string };
type Given = Record<string, unknown> & { userName: string };

/** A SCIM server made of scimmy's own protocol, schemas and filters; its users are kept in memory. */
export interface ScimServer {
  url: string;
  users: Map<string, ScimUser>;
  /** What it answers instead of working. */
  mood: 'well' | 'throttled' | 'revoked';
  touch(ids: readonly string[]): void;
  add(count: number): string[];
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startScimServer({ ignoresPaging }: { ignoresPaging?: boolean } = {}): Promise<ScimServer> {
  const users = new Map<string, ScimUser>();
  let stamp = Date.now();
  let number = 4_000;
  const now = (): string => new Date(Math.max(Date.now(), stamp)).toISOString();
  const keep = (user: ScimUser): ScimUser => {
    users.set(user.id, user);
    return user;
  };
  const numbered = (given: Given): Given => {
    number += 1;
    return { ...given, [EXTENSION]: { employeeNumber: String(number), ...(given[EXTENSION] as object | undefined) } };
  };
  let nextId = 1;
  const add = (given: Given): ScimUser => {
    const id = `u${String(nextId).padStart(6, '0')}`;
    nextId += 1;
    const made = now();
    return keep({ ...numbered(given), id, meta: { created: made, lastModified: made } });
  };

  declareUsers(users, { add, keep, now });

  const app = express();
  // scimmy ignores a page that is asked for in text, and that is all an address holds: then it ignores paging.
  app.set('query parser', (text: string) =>
    Object.fromEntries(
      [...new URLSearchParams(text)].map(([key, value]) => [
        key,
        ignoresPaging !== true && /^\d+$/.test(value) ? Number(value) : value,
      ]),
    ),
  );
  const scim: ScimServer = {
    url: '',
    users,
    mood: 'well',
    touch: (ids) => {
      stamp = Date.now() + 1;
      const at = now();
      for (const id of ids) {
        const user = users.get(id);
        if (user !== undefined) keep({ ...user, meta: { ...(user['meta'] as object), lastModified: at } });
      }
    },
    add: (count) =>
      Array.from({ length: count }, (_, at) => {
        const tag = `added-${nextId}-${at}`;
        return add({ userName: tag, name: { givenName: 'Added', familyName: tag }, active: true }).id;
      }),
    restart: () => server.restart(),
    close: () => server.close(),
  };
  app.use((_request, response, next) => {
    if (scim.mood === 'throttled') response.status(429).end();
    else if (scim.mood === 'revoked') response.status(401).json({ detail: 'no' });
    else next();
  });
  app.use(
    '/scim/v2',
    new SCIMMYRouters({
      type: 'bearer',
      handler: (request) => {
        if (request.header('authorization') !== `Bearer ${SCIM_TOKEN}`) throw new Error('not authorized');
        return 'hirebridge';
      },
    }),
  );
  const server = await startRestartable(app);
  scim.url = `${server.origin}/scim/v2`;
  return scim;
}

/** What the handlers do with users. */
interface Keeping {
  add(given: Given): ScimUser;
  keep(user: ScimUser): ScimUser;
  now(): string;
}

function declareUsers(users: Map<string, ScimUser>, { add, keep, now }: Keeping): void {
  SCIMMY.Resources.declare(SCIMMY.Resources.User);
  SCIMMY.Resources.User.extend(SCIMMY.Schemas.EnterpriseUser, false)
    .ingress((resource, data) => {
      const given = JSON.parse(JSON.stringify(data)) as ScimUser;
      const known = resource.id === undefined ? undefined : users.get(resource.id);
      if (resource.id !== undefined && known === undefined)
        throw new SCIMMY.Types.Error(404, '', `Resource ${resource.id} not found`);
      const taken = [...users.values()].some(
        ({ id, userName }) => id !== resource.id && userName.toLowerCase() === given.userName.toLowerCase(),
      );
      if (taken) throw new SCIMMY.Types.Error(409, 'uniqueness', 'userName is taken');
      if (known === undefined) return add(given);
      const meta = { ...(known['meta'] as object), lastModified: now() };
      return keep({ ...given, id: known.id, meta });
    })
    .egress((resource) => {
      if (resource.id === undefined) return pageOf(resource, [...users.values()]);
      const user = users.get(resource.id);
      if (user === undefined) throw new SCIMMY.Types.Error(404, '', `Resource ${resource.id} not found`);
      return user;
    })
    .degress((resource) => void users.delete(resource.id ?? ''));
}

/** A page, as a store behind scimmy gives it: of a whole list, scimmy builds every user anew for each page. */
function pageOf({ filter, constraints }: InstanceType<typeof SCIMMY.Resources.User>, users: ScimUser[]): ScimUser[] {
  const found = filter?.match(users) ?? users;
  const { startIndex = 1, count } = constraints ?? {};
  if (constraints === undefined || count === undefined) return found;
  Object.assign(constraints, { totalResults: found.length });
  return found.slice(startIndex - 1, startIndex - 1 + count);
}
