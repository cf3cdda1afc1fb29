import { isScalar, type Scalar } from 'yaml';
import { type Path, type Problem, problemAt, type YamlFile } from '../../yaml/yaml-file.ts';

/** What a place of a tenant file can name at the hiring platform. */
export type ThingKind = 'flow' | 'stage' | 'candidateField' | 'jobField' | 'team' | 'job';

/** One place of a tenant file that names something of the hiring platform. */
export interface IdPlace {
  kind: ThingKind;
  path: Path;
  /** As it stands there, an id or a label. */
  wanted: string;
  /** Offsets in the text, quotes included. */
  start: number;
  end: number;
}

const EACH = Symbol('each');
type Pattern = readonly (string | typeof EACH)[];

const PLACES: readonly (readonly [ThingKind, Pattern])[] = [
  ['flow', ['policies', 'onboarding', 'flow']],
  ['stage', ['policies', 'enrolAt', EACH]],
  ['stage', ['policies', 'createAt', EACH]],
  ['candidateField', ['writeBack', 'customField']],
  ['candidateField', ['writeBack', 'values', EACH, 'customFieldId']],
  ['jobField', ['scope', 'customField', 'name']],
  ['team', ['scope', 'teams', EACH]],
  ['job', ['scope', 'jobs', EACH]],
];

/** Every such place in the order of the table; what cannot be edited in place is a problem. */
export function findIdPlaces(source: YamlFile): { places: IdPlace[]; problems: Problem[] } {
  const places: IdPlace[] = [];
  const problems: Problem[] = [];
  for (const [kind, pattern] of PLACES)
    for (const { path, value } of expand(source.value, pattern)) {
      const node = source.doc.getIn(path, true);
      if (isOnOneLine(source.text, node)) places.push({ kind, path, wanted: String(value).trim(), ...rangeOf(node) });
      else problems.push(problemAt(source, path, notInPlace(path)));
    }
  return { places, problems };
}

/** Texts and numbers where the pattern leads; the schema judges everything else. */
function expand(value: unknown, pattern: Pattern, path: Path = []): { path: Path; value: string | number }[] {
  const [step, ...rest] = pattern;
  if (step === undefined) return typeof value === 'string' || typeof value === 'number' ? [{ path, value }] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (step !== EACH) return expand((value as Record<string, unknown>)[step], rest, [...path, step]);
  return Array.isArray(value) ? value.flatMap((item, at) => expand(item, rest, [...path, at])) : [];
}

function isOnOneLine(text: string, node: unknown): node is Scalar {
  if (!isScalar(node) || node.type?.startsWith('BLOCK_') === true) return false;
  const { start, end } = rangeOf(node);
  return !text.slice(start, end).includes('\n');
}

function rangeOf(node: Scalar): { start: number; end: number } {
  const [start, end] = node.range ?? [0, 0];
  return { start, end };
}

function notInPlace(path: Path): string {
  return `"${path.join('.')}" is an alias or stands on several lines. Write the id or label out, on one line.`;
}
