import { resolve } from 'node:path';
import { z } from 'zod';
import { ConnectorError } from '../errors.ts';
import { anchorSecret, resolveSecret, secretRef } from '../tenants/secrets.ts';
import { explainIssues } from '../yaml/explain-issues.ts';
import { problemAt, readYamlFile, refuse, type YamlFile } from '../yaml/yaml-file.ts';

/** What a person may do; each role includes the one before it. */
export const roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

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
  throw new ConnectorError({
    code: 'CONSOLE_TOKEN_SHORT',
    action: 'reject',
    message: `The token at ${named} has fewer than ${LEAST_TOKEN} characters. Make one: openssl rand -base64 32`,
  });
}
