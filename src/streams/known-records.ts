import { createHash, hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import packageFile from '../../package.json' with { type: 'json' };
import { pathsRead } from '../mapping/compile-rule.ts';
import { customFieldsRead } from '../mapping/custom-fields.ts';
import { type Mapping, tablesOf } from '../mapping/load-mapping.ts';
import { endOfText, parseJson, walkObject } from '../partner/client/json-text.ts';
import type { RowFacts } from './read-page.ts';

/** Landed rows by the fingerprint of their record: reading and mapping the record again would give the same row. */
export type KnownRecords = ReadonlyMap<string, RowFacts>;

/** Keys that recognise a record landed before. */
export interface Recognition {
  /** Version of contract, mapping and code; under another version no record is recognised. */
  version: string;
  /** The record's fields that the mapping reads. */
  reads: ReadonlySet<string>;
}

/** 96 bits distinguish more records than any partner has; a page of 100 takes 5 KB. */
const CHARS = 16;

/**
 * `names`: fields that have another name at this partner. Undefined if the mapping reads custom fields or looks values
 * up in tables, because the record does not show what those mean.
 */
export function recognitionOf(
  stream: string,
  mapping: Mapping,
  names: Readonly<Record<string, string>> = {},
): Recognition | undefined {
  if (customFieldsRead([mapping]).length + tablesOf(mapping).length > 0) return undefined;
  const paths = mapping.fields.flatMap(pathsRead);
  return {
    version: shortHash(JSON.stringify([codeVersion(), stream, mapping.fields, names])),
    // A renamed field is recognised by the first word of its path.
    reads: new Set(
      paths.flatMap((path) => ('field' in path ? [(names[path.field] ?? path.field).split('.')[0] ?? ''] : [])),
    ),
  };
}

/**
 * Hashes everything that the record shows, including fields that no rule reads, because the contract checks all of it.
 * Signed links change with every read, so a link that no rule reads counts without its query.
 */
export function fingerprintOf(text: Buffer, { reads }: Recognition): string {
  const mayShowOne = text.includes(QUESTION_MARK) && text.includes(LINK);
  return shortHash(mayShowOne ? withoutSignatures(text, reads) : text);
}

const QUESTION_MARK = 0x3f;
const LINK = Buffer.from('"http');

function withoutSignatures(text: Buffer, reads: ReadonlySet<string>): Buffer {
  const kept: Buffer[] = [];
  let from = 0;
  walkObject(text, 0, (name, value) => {
    for (let n = 0; n < LINK.length; n += 1) if (text[value + n] !== LINK[n]) return undefined;
    const end = endOfText(text, value);
    const query = text.subarray(value, end).indexOf(QUESTION_MARK);
    if (query === -1 || reads.has(String(parseJson(text.subarray(name, endOfText(text, name) + 1))))) return end + 1;
    kept.push(text.subarray(from, value + query));
    from = end;
    return end + 1;
  });
  return kept.length === 0 ? text : Buffer.concat([...kept, text.subarray(from)]);
}

function shortHash(text: string | Buffer): string {
  return hash('sha256', text, 'base64url').slice(0, CHARS);
}

/** Whether the stored hash belongs to the row of these facts. */
export function isRow(facts: RowFacts, stored: string | undefined): boolean {
  return stored?.startsWith(facts.hash) === true;
}

interface Kept {
  version: string;
  /** Each list of filled fields, stored once. */
  shapes: string[][];
  /** Fingerprint, id, start of the row's hash, index in `shapes`. */
  records: [print: string, id: string, hash: string, shape: number][];
}

export function encodeKnown({ version }: Recognition, known: KnownRecords): string {
  const shapes = new Map<string, { place: number; filled: readonly string[] }>();
  const records = [...known].map(([print, { id, hash: rowHash, filled }]) => {
    const name = filled.join();
    const shape = shapes.get(name) ?? { place: shapes.size, filled };
    shapes.set(name, shape);
    return [print, id, rowHash.slice(0, CHARS), shape.place];
  });
  return JSON.stringify({ version, shapes: [...shapes.values()].map(({ filled }) => filled), records });
}

export function decodeKnown({ version }: Recognition, text: string | null | undefined): KnownRecords {
  const kept = text ? (JSON.parse(text) as Kept) : undefined;
  if (kept?.version !== version) return new Map();
  return new Map(
    kept.records.map(([print, id, rowHash, shape]) => [print, { id, hash: rowHash, filled: kept.shapes[shape] ?? [] }]),
  );
}

/** Folders with all the code that decides how a record is read and lands, apart from the tenant's mapping. */
const ROOMS = ['partner', 'mapping', 'streams'];

let known: string | undefined;

/**
 * Changes with the code of contract and mapping and with the packages they use. Hashes the content, because a person
 * would one day forget to raise a version number, and rows would stay as older code made them.
 */
function codeVersion(): string {
  if (known !== undefined) return known;
  const hash = createHash('sha256').update(`${process.version} ${JSON.stringify(packageFile.dependencies)}`);
  const src = dirname(import.meta.dirname);
  for (const room of ROOMS) {
    const files = readdirSync(join(src, room), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    for (const file of files.map(({ parentPath, name }) => join(parentPath, name)).toSorted())
      hash.update(readFileSync(file));
  }
  known = hash.digest('base64url');
  return known;
}
