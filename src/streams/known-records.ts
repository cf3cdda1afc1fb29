import { createHash, hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import packageFile from '../../package.json' with { type: 'json' };
import { tablesOf } from '../mapping/bind-tables.ts';
import { pathsRead } from '../mapping/compile-rule.ts';
import { customFieldsRead } from '../mapping/custom-fields-in-use.ts';
import type { Mapping } from '../mapping/load-mapping.ts';
import { endOfText, parseJson, walkObject } from '../partner/client/json-text.ts';
import type { RowFacts } from './read-page.ts';

/** How records land, by the fingerprint of what they came as: reading and mapping them again would give the same. */
export type KnownRecords = ReadonlyMap<string, RowFacts>;

/** By what records are known again. */
export interface Recognition {
  /** Of contract, mapping and code: under another one nothing is known. */
  version: string;
  /** The fields of a record that the mapping reads. */
  reads: ReadonlySet<string>;
}

/** 96 bits tell apart more records than any partner has; a page of 100 takes 5 KB. */
const CHARS = 16;

/**
 * `names`: where fields stand under another name. Undefined where the mapping reads custom fields or looks values up in
 * tables: what those mean stands in no record.
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
    // A field that stands elsewhere is known by the first word of its path.
    reads: new Set(
      paths.flatMap((path) => ('field' in path ? [(names[path.field] ?? path.field).split('.')[0] ?? ''] : [])),
    ),
  };
}

/**
 * Over everything that the record shows, also what no rule reads: the contract judges it all. Signed links are another
 * text at each read; one that no rule reads counts without its query.
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

/** Whether the row that the facts are of is the one with this hash. */
export function isRow(facts: RowFacts, stored: string | undefined): boolean {
  return stored?.startsWith(facts.hash) === true;
}

interface Kept {
  version: string;
  /** Each list of filled fields once. */
  shapes: string[][];
  /** Fingerprint, id, beginning of the row's hash, place in `shapes`. */
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

/** Everything that decides how a record is read and what becomes of it, but for the tenant's mapping. */
const ROOMS = ['partner', 'mapping', 'streams'];

let known: string | undefined;

/**
 * Changes with the code of contract and mapping and with the packages they use. By their content, because a number
 * that a person has to raise would be forgotten once, and rows would stay as the earlier code made them.
 */
function codeVersion(): string {
  known ??= hashCode();
  return known;
}

function hashCode(): string {
  const hash = createHash('sha256').update(`${process.version} ${JSON.stringify(packageFile.dependencies)}`);
  const src = dirname(import.meta.dirname);
  for (const room of ROOMS) {
    const files = readdirSync(join(src, room), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    for (const file of files.map(({ parentPath, name }) => join(parentPath, name)).toSorted())
      hash.update(readFileSync(file));
  }
  return hash.digest('base64url');
}
