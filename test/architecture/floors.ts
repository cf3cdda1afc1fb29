import { parseFile } from './parse-file.ts';
import { type Tree, within } from './tree.ts';

const ground = [
  'src/errors',
  'src/log',
  'src/log-level',
  'src/config',
  'src/places',
  'src/failpoint',
  'src/health',
  'src/within',
  'src/day-of',
  'src/in-words',
  'src/free-port',
  'src/docs',
  'src/trace',
  'package.json',
];

/**
 * The plan of the house, lowest floor first. A room imports only from floors below its own, types included; rooms of
 * one
 * floor do not know each other. Each entry of the ground is small enough to count with the others as one room.
 */
const floors: readonly (readonly string[])[] = [
  ground,
  ['src/hire', 'src/vault', 'src/sql', 'src/http', 'src/rate-limit', 'src/partner/contract'],
  ['src/yaml', 'src/values', 'src/person'],
  ['src/store', 'src/partner', 'src/hris', 'src/plan'],
  ['src/mapping', 'src/hris-kit'],
  ['src/streams', 'src/exchange'],
  ['src/tenants'],
  ['activities'],
  ['workflows', 'src/telemetry'],
  ['src/temporal'],
  ['src/receiver', 'src/worker', 'src/operator', 'src/sandbox', 'src/counterparts'],
  ['src/app', 'src/app-receiver'],
  ['src/console'],
  ['src/cli'],
];

/** Rooms that may know less than their floor allows, each of them in addition to the ground. */
const narrow: Record<string, readonly string[]> = {
  'src/hire': [],
  'src/partner/contract': [],
  'src/person': ['src/hire'],
  'src/vault': [],
  'src/plan': ['src/hire'],
  'src/sandbox': ['src/partner/contract', 'src/partner/openapi'],
};

/** Packages are free, but for rooms that must stay pure or deterministic. */
const packages: Record<string, RegExp> = {
  'src/hire': /^$/,
  'src/person': /^$/,
  'src/plan': /^$/,
  'src/partner/contract': /^zod(\/|$)/,
  workflows: /^@temporalio\/workflow$/,
};

const rooms = floors.flatMap((floor, height) => floor.map((room) => ({ room, height })));

/** The longest room of the table that a file stands in, and its floor. */
export function placeOf(file: string): { room: string; height: number } | undefined {
  const found = rooms.filter(({ room }) => within(file, room)).toSorted((a, b) => b.room.length - a.room.length)[0];
  return found === undefined || !ground.includes(found.room) ? found : { room: 'the ground', height: 0 };
}

/** One line for each import of the file that the table forbids. Tests may import anything. */
export function importViolations(file: string, source: string): string[] {
  if (within(file, 'test')) return [];
  const place = placeOf(file);
  if (place === undefined) return [`${file} stands in no room of the table`];
  const { files, packages: names } = parseFile(file, source);
  return [
    ...files.filter((target) => !mayImport(place, target)).map((target) => `${file} imports ${target}`),
    ...names
      .filter((name) => !(packages[place.room] ?? /./).test(name))
      .map((name) => `${file} imports the package ${name}`),
  ];
}

function mayImport({ room, height }: { room: string; height: number }, target: string): boolean {
  const other = placeOf(target);
  if (other === undefined) return false;
  if (other.room === room) return true;
  if (other.height >= height) return false;
  const allowed = narrow[room];
  return allowed === undefined || other.height === 0 || allowed.some((one) => within(target, one));
}

/** Each ring of files that import each other, types included, once: written from its first file by name. */
export function importCycles(tree: Tree): string[] {
  const imports = new Map([...tree].map(([file, source]) => [file, targets(file, source, tree)]));
  const rings = new Set<string>();
  const done = new Set<string>();
  const enter = (file: string, path: string[]): void => {
    const from = path.indexOf(file);
    if (from >= 0) rings.add(ring(path.slice(from)));
    if (from >= 0 || done.has(file)) return;
    for (const target of imports.get(file) ?? []) enter(target, [...path, file]);
    done.add(file);
  };
  for (const file of imports.keys()) enter(file, []);
  return [...rings];
}

function targets(file: string, source: string, tree: Tree): string[] {
  return [...new Set(parseFile(file, source).files)].filter((name) => tree.has(name));
}

function ring(files: string[]): string {
  const first = files.indexOf(files.toSorted()[0] as string);
  const turned = [...files.slice(first), ...files.slice(0, first)];
  return [...turned, turned[0]].join(' -> ');
}
