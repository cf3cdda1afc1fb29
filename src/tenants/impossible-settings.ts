import { basename, dirname, isAbsolute, relative, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'csv-parse/sync';
import { readConfig } from '../config.ts';
import type { HrisAdapter } from '../hris/port.ts';
import { findHrisAdapter } from '../hris/registry.ts';
import { hasDefaultMapping } from '../mapping/load-mapping.ts';
import { exchangeNames, landedNames, landings, type PullName, type StreamName } from '../streams/streams.ts';
import { type Path, type Problem, problemAt, type Texts } from '../yaml/yaml-file.ts';
import type { Loaded } from './clashes.ts';
import { landingFields, requisitionFields, requisitionKind } from './open-hris.ts';
import type { Tenant } from './schema.ts';
import { holdsPassword, isSecretRef, type SecretRef } from './secrets.ts';
import { mistold } from './sections.ts';

/** For messages: kinds whose ability depends on no setting of the tenant. */
const AMENDABLE = 'sql, bamboohr, tryton, ldap, scim, odoo, entra, http';
const TELL_LISTS = 'sql, bamboohr, http';
const TAKE_FILES = 'bamboohr, tryton, odoo, sftp, http, sql';
const TAKE_ACCOUNTS = 'scim, ldap, odoo, http, sql, bamboohr, tryton';
const ACCOUNTS_AS: Readonly<Record<string, string>> = {
  bamboohr: 'Set referenceField',
  sql: 'Leave out job, and name a referenceColumn',
  http: 'Add record.reference and find.reference to the definition, and leave out pending',
};
const FILES_AS: Readonly<Record<string, string>> = {
  bamboohr: 'Set hris.fileCategory',
  sql: 'Name a folder for them: hris.files.folder',
};

/** A setting that can never work, its place, and what would work. */
interface Impossible {
  path: Path;
  text: string;
}

/**
 * Settings that the named kinds can never support, whatever the systems behind them are like. Only a file about to be
 * applied is refused for them; a file that was applied earlier keeps running as far as it can.
 */
export function impossibleOf(loaded: readonly Loaded[]): Problem[] {
  return loaded.flatMap(({ source, tenant }) =>
    tenant === undefined
      ? []
      : [
          ...impossibleSettings(tenant).map(({ path, text }) => problemAt(source, path, text)),
          ...lackHeader(tenant.files),
        ],
  );
}

/**
 * Lookup tables whose first line is surely a value, which would be lost as the header. No other first line tells; what
 * is taken for the header is shown when the file is applied.
 */
function lackHeader(files: Texts): Problem[] {
  return Object.entries(files).flatMap(([file, text]) => {
    const [header, ...rows] = isYaml(file) ? [] : rowsOf(text);
    const name = header?.record[1];
    if (header === undefined || name === undefined || name === '') return [];
    const twin = rows.find(({ record }) => record[1] === name);
    if (twin === undefined && Number.isNaN(Number(name))) return [];
    const why = twin === undefined ? `the number "${name}"` : `"${name}", as line ${twin.info.lines} does`;
    const said = `is read as the header line, but holds ${why}, so it is a value and would be lost.`;
    return [{ file, line: header.info.lines, column: 1, text: `${said} Write a header line above it: partner,hris.` }];
  });
}

/** Of the files of a tenant, those that are not YAML are lookup tables. */
export function isYaml(file: string): boolean {
  return /\.ya?ml$/i.test(file);
}

/** Rows of a lookup table, with the line on which each ends; none if it is not CSV, which its mapping reports. */
export function rowsOf(text: string): { record: string[]; info: { lines: number } }[] {
  try {
    const options = { bom: true, info: true, skip_empty_lines: true, relax_column_count: true, trim: true } as const;
    return parse(text, options) as unknown as ReturnType<typeof rowsOf>;
  } catch {
    return [];
  }
}

export function impossibleSettings(tenant: Tenant): Impossible[] {
  return [
    ...landedNames.flatMap((name) => cannotLand(tenant, name)),
    ...exchangeNames.flatMap((name) => cannotExchange(tenant, name)),
    ...cannotRequire(tenant),
    ...cannotSend(tenant),
    ...cannotFile(tenant),
    ...lacksRules(tenant),
    ...cannotTellGone(tenant),
    ...cannotEqualize(tenant),
    ...cannotPoint(tenant),
    ...setTwice(tenant),
    ...cannotGoOn(tenant),
    ...mistold(tenant),
    ...showsPassword(tenant),
  ];
}

function cannotLand(tenant: Tenant, name: PullName): Impossible[] {
  const { every, mapping } = tenant.streams[name];
  const { kind } = tenant.landing ?? tenant.hris;
  if (every === undefined) return [];
  const path = ['streams', name];
  if (landingFields(tenant, name) === undefined) {
    const text =
      `an HR system of kind ${kind} has no table where ${name} could land. Add a database of your own, "landing: ` +
      '{ kind: sql, url: env:NAME }", or remove the stream.';
    return [{ path, text }];
  }
  if (mapping !== undefined || hasDefaultMapping(kind, name)) return [];
  return [
    { path, text: `there is no mapping of ${name} for kind ${kind}. Name a mapping file in streams.${name}.mapping.` },
  ];
}

function cannotExchange(tenant: Tenant, name: StreamName): Impossible[] {
  const { every, mapping } = tenant.streams[name];
  const { kind } = tenant.hris;
  if (every === undefined) return [];
  const path = ['streams', name];
  if (name !== 'amendments') {
    if (mapping !== undefined) return [];
    return [
      { path, text: `no mapping says which fields it exchanges. Name a mapping file in streams.${name}.mapping.` },
    ];
  }
  if (supportsOf(tenant)?.amend !== false) return [];
  const text = `an HR system of kind ${kind} cannot be amended. Remove the stream. These kinds can: ${AMENDABLE}.`;
  return [{ path, text }];
}

function cannotRequire(tenant: Tenant): Impossible[] {
  const { streams, requisitions } = tenant;
  const { every, mapping } = streams.requisitions;
  if (every === undefined) return [];
  const path = ['streams', 'requisitions'];
  const kind = requisitionKind(tenant);
  if (requisitionFields(tenant).length === 0) {
    const own = ['sql', 'http'].includes(kind)
      ? 'Set hris.requisitions (in the definition, for kind http), or'
      : 'Then';
    const text =
      `an HR system of kind ${kind} provides no open positions as configured. ${own} take them from a database ` +
      'of your own: "landing: { kind: sql, url: env:NAME, requisitions: { table: requisitions } }". Or remove ' +
      'the stream.';
    return [{ path, text }];
  }
  if (requisitions === undefined) {
    const text =
      'no custom field links each job to its position. Add "requisitions: { reference: ID }", the id of a job ' +
      'custom field of type text.';
    return [{ path, text }];
  }
  if (mapping !== undefined || hasDefaultMapping(kind, 'requisitions')) return [];
  return [{ path, text: 'no mapping is set for them. Name a mapping file in streams.requisitions.mapping.' }];
}

function cannotSend({ streams, hris, landing }: Tenant): Impossible[] {
  if (streams.resumes.every === undefined) return [];
  if (hris.options['resumes'] !== undefined || landing?.resumes !== undefined) return [];
  const text =
    'no list of the files is configured. Add "resumes: { table: resumes }" to hris or landing of kind sql, or ' +
    '"resumes: { folder: resumes }" to hris of kind sftp. Or remove the stream.';
  return [{ path: ['streams', 'resumes'], text }];
}

function cannotFile(tenant: Tenant): Impossible[] {
  const { documents, streams, hris } = tenant;
  const { every } = streams.documents;
  if (documents === undefined && every === undefined) return [];
  if (supportsOf(tenant)?.files === false) {
    const path = documents === undefined ? ['streams', 'documents'] : ['documents'];
    const own = FILES_AS[hris.kind] ?? 'Remove it, and streams.documents';
    const text = `an HR system of kind ${hris.kind} takes no documents as configured. ${own}.`;
    return [{ path, text: `${text} These kinds take them: ${TAKE_FILES}.` }];
  }
  if (documents !== undefined) return [];
  return [{ path: ['streams', 'documents'], text: 'the file does not say which. Add "documents: [resume]".' }];
}

/** For each stream that works by rules: what is missing without them, and the section to add. */
const BY_RULE = {
  invitations: [
    'no rule says who is invited to what.',
    '"invitations: { rules: [{ on: { stage: ASSESSMENT }, assessment: ID }] }"',
  ],
  results: [
    'no rule says which results go into which custom fields.',
    '"results: [{ assessment: ID, take: score, customField: ID }]"',
  ],
  sourcing: [
    'no rule says which leads become candidates.',
    '"sourcing: { rules: [{ on: { campaign: ID }, job: ID }], consent: { customField: ID } }"',
  ],
} as const;

function lacksRules(tenant: Tenant): Impossible[] {
  const names = Object.keys(BY_RULE) as (keyof typeof BY_RULE)[];
  const without = names.filter((name) => tenant[name] === undefined && tenant.streams[name].every !== undefined);
  return without.map((name) => {
    const [wrong, section] = BY_RULE[name];
    return { path: ['streams', name], text: `${wrong} Add ${section}, or remove the stream.` };
  });
}

function cannotTellGone({ policies: { privacy }, streams }: Tenant): Impossible[] {
  const told = { gone: 'candidates', withdrawn: 'consents', expired: 'consents' } as const;
  return (['gone', 'withdrawn', 'expired'] as const).flatMap((cause) => {
    const stream = told[cause];
    if (privacy[cause] === 'mark' || streams[stream].every !== undefined) return [];
    const what = cause === 'gone' ? 'that somebody is gone' : 'the state of a consent';
    const text =
      `only the stream ${stream} reports ${what}. ` + `Add "streams: { ${stream}: { every: 1h } }", or write mark.`;
    return [{ path: ['policies', 'privacy', cause], text }];
  });
}

function cannotEqualize({ options, streams, hris: { kind, options: own } }: Tenant): Impossible[] {
  if (options === undefined && streams.options.every === undefined) return [];
  if (options === undefined) {
    const text = 'the file does not say which. Add "options: [{ customField: ID, list: departments }]".';
    return [{ path: ['streams', 'options'], text }];
  }
  const adapter = findHrisAdapter(kind, own);
  const names = adapter?.listNames?.(adapter.optionsSchema(landings).parse(own)) ?? [];
  return options.flatMap(({ list }, index): Impossible[] => {
    if (names === 'any' || names.includes(list)) return [];
    const where = ['sql', 'http'].includes(kind)
      ? 'Name it in hris.lists (in the definition, for kind http)'
      : 'Remove it';
    const text =
      names.length === 0
        ? `an HR system of kind ${kind} provides no lists as configured. ${where}. These kinds provide some: ` +
          `${TELL_LISTS}.`
        : `there is no list "${list}". It has: ${names.join(', ')}.`;
    return [{ path: ['options', index, 'list'], text }];
  });
}

function cannotPoint({ writeBack, hris: { kind, options } }: Tenant): Impossible[] {
  const adapter = findHrisAdapter(kind, options);
  if (writeBack.employeeUrl === undefined || adapter === undefined) return [];
  if (adapter.employeeUrl?.(adapter.optionsSchema(landings).parse(options)) !== undefined) return [];
  const text =
    `there is no address where people see an employee of kind ${kind}. Add "employeeUrl: ` +
    'https://hr.example/people/{id}" under hris. These kinds have one by default: bamboohr, odoo, tryton.';
  return [{ path: ['writeBack', 'employeeUrl'], text }];
}

function setTwice({ hris, landing }: Tenant): Impossible[] {
  if (landing === undefined) return [];
  const twice: Impossible[] = [];
  if (hris.options['landing'] !== undefined)
    twice.push({
      path: ['hris', 'landing'],
      text: 'records land where the section "landing" says, so these tables stay empty. Name them in landing.tables.',
    });
  if (hris.options['requisitions'] !== undefined && landing.requisitions !== undefined)
    twice.push({
      path: ['landing', 'requisitions'],
      text: 'open positions are named in hris.requisitions as well. Keep one of the two.',
    });
  return twice;
}

function cannotGoOn({ hris, destinations, streams }: Tenant): Impossible[] {
  const path = ['streams', 'accounts'];
  if (destinations === undefined) {
    if (streams.accounts.every === undefined) return [];
    const section = 'destinations: [{ kind: scim, connection: NAME, url: ..., token: env:NAME, mapping: ./FILE.yaml }]';
    return [{ path, text: `the file does not say where accounts are made. Add "${section}", or remove the stream.` }];
  }
  const unscheduled =
    streams.accounts.every === undefined
      ? [{ path: ['destinations'], text: 'nothing fills them. Add "streams: { accounts: { every: 1m } }".' }]
      : [];
  const each = destinations.flatMap(({ connection, kind, options }, at): Impossible[] => {
    const before = [hris, ...destinations.slice(0, at)].some((one) => one.connection === connection);
    if (before)
      return [
        {
          path: ['destinations', at, 'connection'],
          text:
            `"${connection}" is used above already. Give each destination a name of its own, different from the HR ` +
            "system's.",
        },
      ];
    if (supportsOf({ hris: { kind, connection, options } })?.accounts !== false) return [];
    const own = ACCOUNTS_AS[kind] ?? 'It cannot be a destination';
    const text =
      `as configured, a system of kind ${kind} does not answer at once, or keeps no reference to find an account ` +
      `again. ${own}. These kinds can: ${TAKE_ACCOUNTS}.`;
    return [{ path: ['destinations', at, 'kind'], text }];
  });
  return [...unscheduled, ...each];
}

type Supported = ReturnType<NonNullable<HrisAdapter['supports']>>;

function supportsOf({ hris: { kind, options } }: Pick<Tenant, 'hris'>): Supported | undefined {
  const adapter = findHrisAdapter(kind, options);
  return adapter?.supports?.(adapter.optionsSchema(landings).parse(options));
}

interface Named {
  path: Path;
  ref: SecretRef;
}

/** Every secret that a tenant names. */
export function namedSecrets(tenant: Tenant): Named[] {
  return textsAbout(tenant).flatMap(([path, ref]) => (isSecretRef(ref) ? [{ path, ref }] : []));
}

function showsPassword(tenant: Tenant): Impossible[] {
  return textsAbout(tenant).flatMap(([path, text]) => {
    if (isSecretRef(text) || !holdsPassword(text)) return [];
    const put =
      'Put the whole address into the environment or a file of its own and write env:NAME or file:/path here.';
    return [{ path, text: `"${path.join('.')}" holds a password. ${put}` }];
  });
}

/** Texts that are a secret, an address or a reference to one. */
function textsAbout({ partner, notify, events, hris, destinations = [], landing }: Tenant): [Path, string][] {
  const all: [Path, unknown][] = [
    [['partner', 'apiKey'], partner.apiKey],
    ...partner.webhookKeys.map((ref, index): [Path, unknown] => [['partner', 'webhookKeys', index], ref]),
    [['notify', 'url'], notify?.url],
    [['notify', 'secret'], notify?.secret],
    [['events', 'url'], events?.url],
    [['events', 'secret'], events?.secret],
    [['landing', 'url'], landing?.url],
    ...optionTexts(hris.options).map(([path, value]): [Path, unknown] => [['hris', ...path], value]),
    ...destinations.flatMap(({ options }, at) =>
      optionTexts(options).map(([path, value]): [Path, unknown] => [['destinations', at, ...path], value]),
    ),
  ];
  return all.filter((one): one is [Path, string] => typeof one[1] === 'string');
}

/** Options that are texts, and the texts in list options, by path. */
export function optionTexts(options: Record<string, unknown>): [[string, ...number[]], string][] {
  const all = Object.entries(options).flatMap(([key, value]): [[string, ...number[]], unknown][] =>
    Array.isArray(value) ? value.map((one, index) => [[key, index], one]) : [[[key], value]],
  );
  return all.filter((one): one is [[string, ...number[]], string] => typeof one[1] === 'string');
}

/** Variables of hirebridge itself, of Temporal's client and of Postgres. */
const OF_FLEET = /^env:(?:HIREBRIDGE_|TEMPORAL_|PG[A-Z]+$)/;

/**
 * A tenant file that names another tenant's secret could have it sent to an address of its choice. So no file may name
 * a secret that carries another tenant's name, or a secret of the fleet. If `HIREBRIDGE_SECRETS` names a folder, a file
 * may name only secrets under the tenant's own name there, or variables that begin with that name.
 */
export function foreignSecrets(loaded: readonly Loaded[]): Problem[] {
  const { HIREBRIDGE_SECRETS: root } = readConfig();
  const tenants = loaded.flatMap(({ tenant }) => tenant ?? []);
  return loaded.flatMap(({ source, tenant }) => {
    if (tenant === undefined) return [];
    return namedSecrets(tenant).flatMap((named) => {
      const text = whyForeign(tenant, named, tenants) ?? whyMisplaced(tenant, named, root);
      return text === undefined ? [] : [problemAt(source, named.path, text)];
    });
  });
}

function whyForeign(tenant: Tenant, { path, ref }: Named, tenants: readonly Tenant[]): string | undefined {
  if (OF_FLEET.test(ref)) return `${ref} is a setting of hirebridge itself. Give the tenant a secret of its own.`;
  const owner = ownerOf(ref, tenant, tenants);
  if (owner === undefined || owner.tenant === tenant.tenant) return undefined;
  if (isShared(tenant, owner, path)) return undefined;
  return (
    `${ref} is a secret of tenant "${owner.tenant}", judging by its name. Name one of this tenant: ` +
    `env:${prefixOf(tenant.tenant)}... or file:secrets/${tenant.tenant}/...`
  );
}

/**
 * Whether the secret goes only where its owner sends it: to the same HR system, which `clashes` checks, or to the same
 * partner.
 */
function isShared(tenant: Tenant, owner: Tenant, path: Path): boolean {
  const [section] = path;
  const connection = connectionAt(tenant, path);
  if (connection !== undefined)
    return [owner.hris, ...(owner.destinations ?? [])].some((one) => one.connection === connection);
  const of = ({ partner }: Tenant) => [partner.baseUrl, partner.environment, partner.company];
  return section === 'partner' && owner.partner.company !== undefined && isDeepStrictEqual(of(owner), of(tenant));
}

/** The tenant whose name begins the variable or file name, or names a folder of the path; the longest name wins. */
function ownerOf(ref: SecretRef, { file }: Tenant, tenants: readonly Tenant[]): Tenant | undefined {
  const byLength = tenants.toSorted((one, other) => other.tenant.length - one.tenant.length);
  if (ref.startsWith('env:'))
    return byLength.find(({ tenant }) => ref.slice('env:'.length).startsWith(prefixOf(tenant)));
  const path = ref.slice('file:'.length);
  const inside = relative(dirname(file), path);
  const folders = isOutside(inside) ? [basename(dirname(path))] : dirname(inside).split(sep);
  const isFolder = ({ tenant }: Tenant): boolean => folders.includes(tenant);
  const isName = ({ tenant }: Tenant): boolean => basename(path).startsWith(`${tenant}-`);
  return byLength.find(isFolder) ?? byLength.find(isName);
}

/** The connection whose option is at this place; undefined for any other place. */
function connectionAt({ hris, destinations }: Tenant, [section, at]: Path): string | undefined {
  if (section === 'hris') return hris.connection;
  return section === 'destinations' ? destinations?.[Number(at)]?.connection : undefined;
}

function whyMisplaced(of: Tenant, { path, ref }: Named, root: string | undefined): string | undefined {
  if (root === undefined) return undefined;
  const { tenant } = of;
  const own = [tenant, ...[connectionAt(of, path)].filter((name) => name !== undefined)];
  const isOwn = ref.startsWith('env:')
    ? own.some((name) => ref.slice('env:'.length).startsWith(prefixOf(name)))
    : own.some((name) => !isOutside(relative(`${root}${sep}${name}`, ref.slice('file:'.length))));
  if (isOwn) return undefined;
  const places = own.map((name) => `env:${prefixOf(name)}... or file:${root}${sep}${name}${sep}...`).join(', ');
  return `${ref} is not among this tenant's secrets. HIREBRIDGE_SECRETS allows ${places}`;
}

function isOutside(path: string): boolean {
  return path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
}

function prefixOf(name: string): string {
  return `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_`;
}
