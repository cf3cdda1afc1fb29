import { isIP } from 'node:net';
import { IANAZone } from 'luxon';
import { z } from 'zod';
import { duration } from '../hris/option-types.ts';
import { isPublicAddress } from '../http/pool.ts';
import type { Overrides } from '../partner/contract/assumptions.ts';
import { allEndpoints, contract } from '../partner/contract/index.ts';
import { isLookup, landedNames, pullStreams, type StreamName } from '../streams/streams.ts';
import { isSecretRef, secretRef } from './secrets.ts';

/** How often something is done; zero would mean without pause. */
export const interval = duration.refine((ms) => ms > 0, 'expected a duration above zero');

const times = {
  /** How often the stream runs by itself; never if absent. Between two runs it follows webhooks. */
  every: interval.optional(),
  /** The whole list is read again within this time, no matter what webhooks said. */
  wholeWithin: interval.default(86_400_000),
};

const streamSettings = z
  .strictObject({
    ...times,
    /**
     * What happens to a landed record that the partner no longer has; if absent, it is marked if its table allows that.
     */
    deletion: z.enum(['ignore', 'mark', 'delete'], 'expected ignore, mark or delete').optional(),
    /** File with the differences from the default mapping. */
    mapping: z
      .string('expected text; write a number in quotes')
      .trim()
      .min(1, 'expected text that is not empty')
      .optional(),
  })
  .prefault({});

type StreamSettings = z.output<typeof streamSettings>;

/** A lookup table is kept as the partner has it: without a mapping, and what is gone there is deleted here. */
const tableSettings = z
  .strictObject(times)
  .transform((own): StreamSettings => ({ ...own, deletion: 'delete' }))
  .prefault({});

const FORMS = ['webhook', 'slack', 'teams', 'teams-card', 'mail'] as const;
export type NoticeForm = (typeof FORMS)[number];

export const timezone = z
  .string()
  .refine((zone) => IANAZone.isValidZone(zone), 'expected a time zone such as Europe/Berlin');

const ADDRESS = 'expected an https address, or a reference to one: env:NAME or file:PATH';
const isWebAddress = (url: string): boolean => z.url({ protocol: /^https?$/ }).safeParse(url).success;
const address = z.string(ADDRESS).refine((url) => isSecretRef(url) || isWebAddress(url), ADDRESS);
const mailbox = z.email('expected an e-mail address');

const notice = z
  .strictObject({
    /** An address, or a reference to one; for mail always a reference. */
    url: address,
    /** The format that the receiver takes. */
    form: z.enum(FORMS, `expected one of ${FORMS.join(', ')}`).default('webhook'),
    /** Secret that signs what is sent. */
    secret: secretRef.optional(),
    /** When the daily digest is sent, HH:MM in the tenant's time zone. */
    digest: z
      .string('expected a time in quotes such as "08:00"')
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'expected a time in quotes such as "08:00"')
      .optional(),
    timezone: timezone.default('UTC'),
    /** Only for mail. */
    from: mailbox.optional(),
    to: z.array(mailbox, 'expected a list of e-mail addresses').min(1, 'expected at least one').optional(),
  })
  .superRefine(({ form, url, from, to }, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (form !== 'mail') return;
    if (!isSecretRef(url)) refuse('url', 'expected a reference to smtps://USER:PASSWORD@HOST: env:NAME or file:PATH');
    if (from === undefined) refuse('from', 'expected the e-mail address that mail comes from');
    if (to === undefined) refuse('to', 'expected a list of e-mail addresses');
  });

export type Notify = z.output<typeof notice>;

/**
 * Where new holds and alarms are sent: an address, or with it the receiver's format, a signing secret and the time of a
 * daily digest.
 */
export const notify = z.union(
  [address.transform((url): Notify => ({ url, form: 'webhook', timezone: 'UTC' })), notice],
  'expected an https address, or { url, form, secret, digest, timezone, from, to }',
);

/** Where events about hires are sent, signed; each event is repeated until the receiver accepts it. */
export const events = z.strictObject({ url: address, secret: secretRef }, 'expected { url, secret }').optional();

/** A setting of these two sections that can never work, and what would work. */
interface Mistold {
  path: string[];
  text: string;
}

/**
 * Reasons to refuse a file that is about to be applied: a secret written into it, data that would be sent unencrypted,
 * and settings that its format never reads. Never repeats an address.
 */
export function mistold(told: { notify?: Notify | undefined; events?: { url: string } | undefined }): Mistold[] {
  return [...mistoldNotices(told.notify), ...mistoldAddress(['events', 'url'], told.events?.url)];
}

function mistoldNotices(notify: Notify | undefined): Mistold[] {
  if (notify === undefined) return [];
  const { form, url } = notify;
  const unread = (['secret', 'from', 'to'] as const).filter(
    (key) => notify[key] !== undefined && form !== (key === 'secret' ? 'webhook' : 'mail'),
  );
  return [
    ...(form === 'mail' ? [] : mistoldAddress(['notify', 'url'], url, form !== 'webhook')),
    ...unread.map((key) => ({
      path: ['notify', key],
      text:
        `notify.${key} is never read with the form ${form}, but with ${key === 'secret' ? 'webhook' : 'mail'}. ` +
        'Remove it, or name that form.',
    })),
  ];
}

/** Chat services whose address alone lets anybody write there. */
const CHATS = /(^|\.)(hooks\.slack\.com|webhook\.office\.com|logic\.azure\.com|discord\.com|chat\.googleapis\.com)$/;
const ELSEWHERE =
  'Put the whole address into the environment or a file of its own and write env:NAME or file:/path here.';

function mistoldAddress(path: string[], url: string | undefined, ofChat = false): Mistold[] {
  if (url === undefined || isSecretRef(url)) return [];
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') return [{ path, text: `it holds a user or a password. ${ELSEWHERE}` }];
  if (ofChat || CHATS.test(hostname))
    return [{ path, text: `the address of a chat is a secret: anyone who knows it can post there. ${ELSEWHERE}` }];
  if (protocol === 'https:' || isInside(hostname)) return [];
  const text = 'http would expose the notifications on the network. Write an https address.';
  return [{ path, text }];
}

/** Judged by the host name only: plain http is allowed for a receiver in the same network. */
function isInside(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return !isPublicAddress(host);
  return !host.includes('.') || /\.(local|localhost|internal|lan|test|home\.arpa)$/.test(host);
}

export function settingsOf(name: StreamName): typeof tableSettings | typeof streamSettings {
  return isLookup(name) ? tableSettings : streamSettings;
}

type NameMap = 'queryNames' | 'bodyNames' | 'fieldNames' | 'firstPages';

/** Reports names that no operation has: the override would have no effect, and nobody would notice. */
export function unknownNames({
  queryNames = {},
  bodyNames = {},
  fieldNames = {},
  firstPages = {},
}: {
  [Name in NameMap]?: Overrides[Name] | undefined;
}) {
  // Also lists that the specification shows without pages: a partner may have some (G12).
  const lists = allEndpoints().flatMap(({ id, method, list }) => (list === undefined || method !== 'GET' ? [] : [id]));
  const pagesOf = (operation: string) => (lists.includes(operation) ? [] : undefined);
  const read = fieldsRead();
  const fieldsOf = (operation: string) => read.get(operation);
  return [
    ...unknownIn('firstPages', firstPages, pagesOf, `a list: ${lists.join(', ')}`),
    ...unknownIn('queryNames', queryNames, queryNamesOf, 'an operation that has a query: `openapi` lists them'),
    ...unknownIn('bodyNames', bodyNames, bodyNamesOf, 'an operation that has a body: `openapi` lists them'),
    ...unknownIn('fieldNames', fieldNames, fieldsOf, `a list whose records are read: ${[...read.keys()].join(', ')}`),
  ];
}

function unknownIn(
  override: NameMap,
  overridden: Overrides[NameMap],
  knownOf: (operation: string) => readonly string[] | undefined,
  expected: string,
): { code: 'custom'; path: string[]; message: string }[] {
  const at = (path: string[], message: string) => ({
    code: 'custom' as const,
    path: ['overrides', override, ...path],
    message,
  });
  return Object.entries(overridden).flatMap(([operation, names]) => {
    const known = knownOf(operation);
    if (known === undefined) return [at([operation], `expected ${expected}`)];
    const unknown = Object.keys(names).filter((name) => !known.includes(name));
    return unknown.map((name) => at([operation, name], `expected one of ${known.join(', ')}`));
  });
}

/** The fields of each list whose records land, or whose files are copied. */
function fieldsRead(): Map<string, readonly string[]> {
  const landed = landedNames.map((name) => [pullStreams[name].list.id, pullStreams[name].record.fields] as const);
  const { listDocuments, listOffers } = contract.onboarding;
  const copied = [listDocuments, listOffers].map(({ id, list }) => [id, Object.keys(list.item.out.shape)] as const);
  return new Map([...landed, ...copied]);
}

/** Names of an operation's query parameters, paging included; undefined if the operation is unknown or takes none. */
function queryNamesOf(operation: string): string[] | undefined {
  const { query, list, method } = allEndpoints().find(({ id }) => id === operation) ?? {};
  const own = query instanceof z.ZodObject ? Object.keys(query.shape) : [];
  const ofPages = method === 'GET' && list !== undefined ? ['page', 'perPage', 'limit'] : [];
  const names = [...own, ...(list?.paging === undefined ? ofPages : [])];
  return names.length === 0 ? undefined : names;
}

/** Names in an operation's body, and in the records of its lists. */
function bodyNamesOf(operation: string): string[] | undefined {
  const body = allEndpoints().find(({ id }) => id === operation)?.body;
  return body === undefined ? undefined : namesIn(body);
}

function namesIn(schema: z.ZodType): string[] {
  if (schema instanceof z.ZodOptional) return namesIn(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodArray) return namesIn(schema.element as z.ZodType);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries<z.ZodType>(schema.shape).flatMap(([name, field]) => {
    const inner = field instanceof z.ZodOptional ? (field.unwrap() as z.ZodType) : field;
    return [name, ...(inner instanceof z.ZodArray ? namesIn(inner) : [])];
  });
}
