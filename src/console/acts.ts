import { resolve } from 'node:path';
import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { rejected } from '../errors.ts';
import type { Logger } from '../log.ts';
import type { Store } from '../store/open-store.ts';
import { anchorSecret, resolveSecret, secretRef } from '../tenants/secrets.ts';
import { explainIssues, problemAt, readYamlFile, refuse, type YamlFile } from '../yaml/yaml-file.ts';

/** The signed-in person of a request. */
export interface Viewer extends Person {
  /** Included in every form and sent back with it. */
  csrf: string;
}

export interface ConsoleEnv {
  /** Counts the statements of this request. */
  Variables: { viewer: Viewer; form: URLSearchParams; store: Store };
}

export type ConsoleApp = Hono<ConsoleEnv>;
export type Asked = Context<ConsoleEnv>;

interface Act {
  /** The command that does the same; empty if commands do it without a separate option. */
  verb: string;
  path: string;
  needs: Role;
  /** The form names holds, and checks their tenants itself. Without it and a tenant in the path: the whole fleet. */
  of?: 'holds';
}

/**
 * Every form that the console accepts; others are refused. A test compares them with the commands, and tries each
 * without the right to do it.
 */
export const ACTS = {
  answer: { verb: 'hold answer', path: '/holds/:id/answer', needs: 'operator', of: 'holds' },
  answerMany: { verb: 'hold answer', path: '/holds/answer', needs: 'operator', of: 'holds' },
  revealRecords: { verb: '', path: '/holds/:id/records', needs: 'viewer', of: 'holds' },
  startHire: { verb: 'hire start', path: '/hires/:tenant/:id/start', needs: 'operator' },
  findHires: { verb: '', path: '/people/:tenant', needs: 'viewer' },
  revealHire: { verb: 'audit --reveal', path: '/hires/:tenant/:id', needs: 'viewer' },
  revealFields: { verb: 'explain --reveal', path: '/hires/:tenant/:id/fields', needs: 'viewer' },
  retryDelivery: { verb: 'inbox retry', path: '/deliveries/:tenant/:delivery/retry', needs: 'operator' },
  replayDelivery: { verb: 'replay', path: '/deliveries/:tenant/:delivery/replay', needs: 'operator' },
  revealDelivery: { verb: '', path: '/deliveries/:tenant/:delivery', needs: 'operator' },
  sync: { verb: 'sync', path: '/streams/:tenant/:stream/sync', needs: 'operator' },
  pauseStream: { verb: 'pause', path: '/streams/:tenant/:stream/pause', needs: 'operator' },
  resumeStream: { verb: 'resume', path: '/streams/:tenant/:stream/resume', needs: 'operator' },
  retry: { verb: 'retry', path: '/streams/:tenant/retry', needs: 'operator' },
  revealConflicts: { verb: '', path: '/streams/:tenant/conflicts', needs: 'viewer' },
  settle: { verb: 'hold answer', path: '/streams/:tenant/settle', needs: 'operator' },
  revealWrites: { verb: 'audit --reveal', path: '/audit/:tenant/writes', needs: 'viewer' },
  compareMapping: { verb: 'mapping diff', path: '/changes/:tenant/mappings/:subject/compare', needs: 'operator' },
  applyMapping: { verb: 'tenant apply', path: '/changes/:tenant/mappings/:subject/apply', needs: 'admin' },
  plan: { verb: 'plan', path: '/changes/:tenant/plans', needs: 'operator' },
  applyPlan: { verb: 'apply', path: '/changes/:tenant/plans/:hash/apply', needs: 'admin' },
  pauseTenant: { verb: 'pause', path: '/tenants/:tenant/pause', needs: 'operator' },
  resumeTenant: { verb: 'resume', path: '/tenants/:tenant/resume', needs: 'operator' },
  removeTenant: { verb: 'tenant remove', path: '/tenants/:tenant/remove', needs: 'admin' },
  confirmCompany: { verb: 'tenant confirm-company', path: '/tenants/:tenant/confirm-company', needs: 'admin' },
  goLive: { verb: 'tenant go-live', path: '/tenants/:tenant/go-live', needs: 'operator' },
  reconcile: { verb: 'reconcile', path: '/tenants/:tenant/reconcile', needs: 'operator' },
  freeze: { verb: 'freeze', path: '/tenants/:tenant/freeze', needs: 'operator' },
  thaw: { verb: 'thaw', path: '/tenants/:tenant/thaw', needs: 'operator' },
  setUp: { verb: 'init', path: '/setup', needs: 'admin' },
  setUpHris: { verb: 'init', path: '/setup/:draft/hr-system', needs: 'admin' },
  setUpFields: { verb: 'init', path: '/setup/:draft/fields', needs: 'admin' },
  setUpWrite: { verb: 'init', path: '/setup/:draft/write', needs: 'admin' },
  freezeAll: { verb: 'freeze', path: '/freeze', needs: 'operator' },
  thawAll: { verb: 'thaw', path: '/thaw', needs: 'operator' },
} as const satisfies Readonly<Record<string, Act>>;

export type ActName = keyof typeof ACTS;

/** Whether the viewer may do this for the tenant; without one, for the whole fleet. */
export function mayDo(c: Asked, name: ActName, tenantId?: string): boolean {
  return may(c.get('viewer'), ACTS[name].needs, tenantId);
}

/** Checks the right to act, and returns the name to act under. @throws ConnectorError NOT_ALLOWED */
export function allow(c: Asked, name: ActName, tenantId?: string): string {
  if (mayDo(c, name, tenantId)) return c.get('viewer').by;
  throw rejected(
    'NOT_ALLOWED',
    `This needs the role ${ACTS[name].needs} for ${tenantId ?? 'all tenants'}, and nothing was done. The people who ` +
      'maintain the access file can give it to you.',
  );
}

/** The input of an act. Ids of its address are in `c.req.param`. */
interface Done {
  c: Asked;
  by: string;
  form: URLSearchParams;
  /** The tenant in the address; empty if there is none, and then the act checks the right itself. */
  tenantId: string;
}

/**
 * Registers an act: its sender must be allowed to see the tenant and have the role. The result is the address of the
 * page that shows the outcome, or a page.
 */
export function addAct(
  app: ConsoleApp,
  log: Logger,
  name: ActName,
  does: (done: Done) => Promise<string | Response>,
): void {
  const { path, of }: Act = ACTS[name];
  const isOfTenant = path.includes('/:tenant');
  app.post(path, async (c) => {
    const tenantId = c.req.param('tenant') ?? '';
    if (isOfTenant) await assertShown(c, tenantId);
    const by = of === 'holds' ? c.get('viewer').by : allow(c, name, isOfTenant ? tenantId : undefined);
    const end = await does({ c, by, form: c.get('form'), tenantId });
    log.info({ act: name, path: c.req.path, by }, 'done');
    return typeof end === 'string' ? c.redirect(end, 303) : end;
  });
}

/** Registers a page of one tenant, for people who may see it. */
export function addPage(
  app: ConsoleApp,
  path: `/${string}/:tenant${string}`,
  show: (c: Asked, tenantId: string) => Response | Promise<Response>,
): void {
  app.get(path, async (c) => {
    const tenantId = c.req.param('tenant') ?? '';
    await assertShown(c, tenantId);
    return show(c, tenantId);
  });
}

/** What a list is asked for under this name; undefined if nothing. */
export function queryOf(c: Asked, name: string): string | undefined {
  const text = c.req.query(name)?.trim();
  return text === '' ? undefined : text;
}

/** The tenant of a person who may see only one. */
export function onlyTenant(c: Asked): string | undefined {
  const scope = scopeOf(c.get('viewer'));
  return scope?.length === 1 ? scope[0] : undefined;
}

/** The tenants whose rows a list shows: the requested one, or all that the viewer may see. */
export async function askedScope(c: Asked): Promise<{ tenantId?: string; tenantIds: readonly string[] | undefined }> {
  const tenantId = queryOf(c, 'tenant') ?? onlyTenant(c);
  if (tenantId === undefined) return { tenantIds: scopeOf(c.get('viewer')) };
  await assertShown(c, tenantId);
  return { tenantId, tenantIds: [tenantId] };
}

/**
 * Treats another tenant's id like one that does not exist, and names no other.
 * @throws ConnectorError TENANT_UNKNOWN
 */
async function assertShown(c: Asked, tenantId: string): Promise<void> {
  if (may(c.get('viewer'), 'viewer', tenantId) && (await isKnown(c.get('store'), tenantId))) return;
  throw rejected('TENANT_UNKNOWN', `There is no tenant "${tenantId}" that you may see. Choose one on the overview.`);
}

async function isKnown({ kysely }: Store, tenantId: string): Promise<boolean> {
  const row = await kysely
    .selectFrom('tenants')
    .select('tenant_id')
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  return row !== undefined;
}

/** What a person may do; each role includes the one before it. */
const roles = ['viewer', 'operator', 'admin'] as const;
type Role = (typeof roles)[number];

/** A role for all tenants or for the listed ones. */
export interface Grant {
  role: Role;
  tenants: 'all' | readonly string[];
}

/** A signed-in person. Several grants add up. */
export interface Person {
  /** The name under which they act. */
  by: string;
  /** A permanent identity, if it is more than a token's name: names change, subjects do not. */
  actor?: string;
  grants: readonly Grant[];
}

/** Whether a grant includes this role for this tenant; without a tenant, for the whole fleet. */
export function may({ grants }: Pick<Person, 'grants'>, role: Role, tenantId?: string): boolean {
  return grants.some(
    (grant) =>
      roles.indexOf(grant.role) >= roles.indexOf(role) &&
      (grant.tenants === 'all' || (tenantId !== undefined && grant.tenants.includes(tenantId))),
  );
}

/** The tenants whose records the person may see; undefined for all. */
export function scopeOf({ grants }: Pick<Person, 'grants'>): readonly string[] | undefined {
  if (grants.some(({ tenants }) => tenants === 'all')) return undefined;
  return [...new Set(grants.flatMap(({ tenants }) => tenants))];
}

const LEAST_TOKEN = 20;

const grantKeys = {
  role: z.enum(roles),
  tenants: z.union([z.literal('all'), z.array(z.string().min(1)).min(1)], 'expected all, or a list of tenant ids'),
};

/** Who may sign in to the console, as a file says it; tokens and the client's secret are references. */
export const AccessFile = z.strictObject({
  /** The console's address for browsers. */
  url: z.url({ protocol: /^https?$/, error: 'expected an address, https://console.example.com' }).refine((url) => {
    const { pathname, search, hash } = new URL(url);
    return pathname === '/' && search === '' && hash === '';
  }, 'expected scheme and host alone, https://console.example.com'),
  tokens: z.array(z.strictObject({ name: z.string().min(1), token: secretRef, ...grantKeys })).default([]),
  oidc: z
    .strictObject({
      issuer: z.url({ protocol: /^https?$/, error: 'expected an address, https://login.example.com' }),
      clientId: z.string().min(1),
      /** Absent for a public client. */
      clientSecret: secretRef.optional(),
      scope: z.string().default('openid email'),
      /** The claim with the person's name for the audit trail. */
      name: z.string().min(1).default('email'),
      roles: z.array(z.strictObject({ claim: z.string().min(1), value: z.string().min(1), ...grantKeys })).min(1),
    })
    .optional(),
});

/** Who may enter, how, and with which rights: a file's content, with secrets resolved. */
export interface Access {
  url: URL;
  tokens: readonly (Person & { token: string })[];
  oidc: OidcSettings | undefined;
}

export interface OidcSettings extends Omit<NonNullable<z.infer<typeof AccessFile>['oidc']>, 'clientSecret'> {
  clientSecret: string | undefined;
}

/** Reads an access file. @throws ConnectorError ACCESS_FILE_INVALID with line and column, SECRET_MISSING */
export async function readAccess(path: string): Promise<Access> {
  const file = resolve(path);
  const source = await readYamlFile(file);
  if (source.problems.length > 0) throw refuse('ACCESS_FILE_INVALID', source.problems);
  const parsed = AccessFile.safeParse(source.value);
  if (!parsed.success) throw refuse('ACCESS_FILE_INVALID', explainIssues(source, AccessFile, parsed.error));
  const { url, tokens, oidc } = parsed.data;
  assertUsable(source, parsed.data);
  const secretOf = (ref: string): string => resolveSecret(anchorSecret(ref, file));
  return {
    url: new URL(url),
    tokens: tokens.map(({ name, token, role, tenants }, at) => ({
      by: name,
      token: longEnough(secretOf(token), `tokens.${at}`),
      grants: [{ role, tenants }],
    })),
    oidc:
      oidc === undefined
        ? undefined
        : { ...oidc, clientSecret: oidc.clientSecret === undefined ? undefined : secretOf(oidc.clientSecret) },
  };
}

const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])$/;

export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

function assertUsable(source: YamlFile, { url, tokens, oidc }: z.infer<typeof AccessFile>): void {
  const { protocol, hostname } = new URL(url);
  const problems = [
    ...(protocol === 'https:' || isLoopback(hostname)
      ? []
      : [
          problemAt(
            source,
            ['url'],
            '"url" begins with http://, so that everybody on the way reads the session. Put a proxy with a ' +
              'certificate before the console, and write its https:// address here.',
          ),
        ]),
    ...(oidc === undefined || oidc.issuer.startsWith('https:') || isLoopback(new URL(oidc.issuer).hostname)
      ? []
      : [problemAt(source, ['oidc', 'issuer'], '"oidc.issuer" must be an https:// address.')]),
    ...(tokens.length > 0 || oidc !== undefined
      ? []
      : [problemAt(source, [], 'lets nobody in: add tokens, or an oidc section.')]),
  ];
  if (problems.length > 0) throw refuse('ACCESS_FILE_INVALID', problems);
}

/** Refuses a short token, which could be guessed. @throws ConnectorError CONSOLE_TOKEN_SHORT */
export function longEnough(token: string, named: string): string {
  if (token.length >= LEAST_TOKEN) return token;
  throw rejected(
    'CONSOLE_TOKEN_SHORT',
    `The token at ${named} has fewer than ${LEAST_TOKEN} characters. Make one: openssl rand -base64 32`,
  );
}
