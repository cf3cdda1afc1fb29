import type { Path } from '../../yaml/yaml-file.ts';
import type { Definition } from './definition-schema.ts';
import { NO_FORMAT, writesDays } from './template.ts';

/** Something that parts of a definition say of one another, and cannot both mean. */
interface BrokenRule {
  at: Path;
  text: string;
}

/** What the schema of a single part cannot see. */
export function brokenRules(raw: Definition): BrokenRule[] {
  return [
    ...ofReference(raw),
    ...ofSearches(raw),
    ...ofFields(raw),
    ...ofAccess(raw),
    ...ofFiles(raw),
    ...ofHooks(raw),
  ];
}

/** Keys of every tenant file. */
const TAKEN = ['definition', 'url', 'readLag', 'allowPrivateAddress', 'kind', 'connection', 'module'];

function* ofReference(raw: Definition): Generator<BrokenRule> {
  const { find, record, create, pending, options, readLag, requisitions } = raw;
  if (find.reference !== undefined && record.reference === undefined)
    yield {
      at: ['find', 'reference'],
      text: '"find.reference" searches by our reference, but "record.reference" does not say where it is. Add it.',
    };
  if (record.reference !== undefined && find.reference === undefined)
    yield {
      at: ['record', 'reference'],
      text:
        'our reference is stored there, but "find.reference" does not say how to search by it: a create whose answer ' +
        'is lost could not be found again. Add it, or remove "record.reference".',
    };
  if (create.ticket !== undefined && pending === undefined)
    yield {
      at: ['create', 'ticket'],
      text: 'a create may be pending, but "pending" does not say how to ask for its outcome. Add it.',
    };
  // A default would be a guess that makes employees twice.
  if (create.ticket !== undefined && readLag === undefined)
    yield {
      at: ['create', 'ticket'],
      text:
        'a create may be pending, but "readLag" does not say how long a search may miss its employee. A create whose ' +
        'answer was lost is sent again after that time. Add readLag: 15m, or 0s if searches never miss one.',
    };
  for (const [part, { version }] of Object.entries({ record, ...(requisitions && { requisitions }) }))
    if (version?.startsWith('headers.') === true)
      yield {
        at: [part, 'version'],
        text: `"${part}.version" reads a record, which has no headers. Write "read.version": headers.etag.`,
      };
  for (const key of TAKEN.filter((one) => Object.hasOwn(options, one)))
    yield { at: ['options', key], text: `"${key}" is a key of every tenant file. Rename it.` };
}

function* ofSearches({ find, fields, record }: Definition): Generator<BrokenRule> {
  const has = (key: string): boolean => fields[key] !== undefined;
  const missing = [...(has('name') ? [] : ['givenName', 'familyName']), 'birthDate'].filter((key) => !has(key));
  if (find.person !== undefined && missing.length > 0)
    yield {
      at: ['find', 'person'],
      text: `people are compared by name and birth date, but there is no field ${missing.join(' and ')}. Add it.`,
    };
  if (find.email !== undefined && !has('email') && !has('workEmail'))
    yield {
      at: ['find', 'email'],
      text: 'people are compared by e-mail address, but there is no field "email" or "workEmail". Add one.',
    };
  if (find.number !== undefined && record.number === undefined)
    yield {
      at: ['find', 'number'],
      text:
        'people are compared by number, but "record.number" does not say where a record has it. Add it, or remove ' +
        '"find.number".',
    };
  for (const key of Object.keys(find.taken).filter((one) => !has(one)))
    yield {
      at: ['find', 'taken', key],
      text: `there is no field "${key}" to search for. Add it, or remove this search.`,
    };
}

function* ofFields({ fields, requisitions }: Definition): Generator<BrokenRule> {
  const all = [
    ...Object.entries(fields).map(([key, field]) => ({ at: ['fields', key, 'date'], field })),
    ...Object.entries(requisitions?.fields ?? {}).map(([key, field]) => ({
      at: ['requisitions', 'fields', key, 'date'],
      field,
    })),
  ];
  for (const { at, field } of all) {
    if (field.date !== undefined && !writesDays(field.date))
      yield { at, text: `"${at.join('.')}" is "${field.date}", which is ${NO_FORMAT}` };
    if (field.date !== undefined && field.type !== 'date')
      yield { at, text: `"${at.join('.')}" is a date format, so the field needs "type: date".` };
  }
}

function* ofAccess({ auth, options }: Definition): Generator<BrokenRule> {
  const used = Array.from(JSON.stringify(auth).matchAll(/\{\s*options\.(\w+)/g), ([, key = '']) => key);
  // An option that is not there is told by its template.
  if (auth.none === undefined && !used.some((key) => options[key]?.secret !== false))
    yield {
      at: ['auth'],
      text:
        '"auth" uses no secret option, but this file may not contain a secret. Write {options.NAME} here, ' +
        '"NAME: { secret: true }" under "options", and "NAME: env:VARIABLE" or "NAME: file:PATH" in the tenant file.',
    };
  if (auth.oauth2?.grant === 'refresh_token' && auth.oauth2.refreshToken === undefined)
    yield { at: ['auth', 'oauth2', 'grant'], text: 'the grant refresh_token needs "refreshToken". Add it.' };
}

function* ofFiles({ files }: Definition): Generator<BrokenRule> {
  if (files === undefined) return;
  const { same = {}, download, upload } = files;
  if (Object.keys(same).length === 0 && download === undefined)
    yield {
      at: ['files'],
      text: '"files" does not say how to tell whether a file is already there. Add "same" or "download".',
    };
  if ((upload.form === undefined) === (upload.body === undefined))
    yield { at: ['files', 'upload'], text: '"files.upload" needs either a "body" or a "form" with {file}.' };
}

function* ofHooks({ webhooks }: Definition): Generator<BrokenRule> {
  if (webhooks === undefined) return;
  const at = ['webhooks', 'signed'];
  if (!webhooks.signed.includes('{body}')) yield { at, text: 'the signature does not cover the body. Add {body}.' };
  if (webhooks.signed.includes('{timestamp}') && webhooks.timestamp === undefined)
    yield { at, text: '{timestamp} is signed, but "webhooks.timestamp" does not name its header. Add it.' };
}
