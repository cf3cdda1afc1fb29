import type { FieldDef } from '../hris/port.ts';
import { didYouMean } from '../yaml/explain-issues.ts';
import { type Problem, problemAt } from '../yaml/yaml-file.ts';
import { checkInvertible } from './check-invertible.ts';
import { flowsToPartner, type PlacedRule, pathsOf } from './placed-rule.ts';
import type { FieldRule } from './schema.ts';
import { parseSourcePath, partnerTargets, type SourceRecords } from './source-fields.ts';

/** What carries values of a mapping to the partner, and what it can write there. */
export interface WayBack {
  carrier: string;
  writes: SourceRecords;
  /** Whose edits it may carry, where a value flows both ways. */
  owners: readonly NonNullable<FieldRule['owner']>[];
}

/** Checks direction, owner and conflict of a rule, and that one which goes to the partner can be read backwards. */
export function checkDirection(placed: PlacedRule, fields: readonly FieldDef[], way: WayBack | undefined): Problem[] {
  const owner = checkOwner(placed, way);
  if (!flowsToPartner(placed.rule)) return owner;
  return [...owner, ...checkPartnerSide(placed, way), ...checkInvertible(placed, fields)];
}

function checkOwner({ target, rule, source }: PlacedRule, way: WayBack | undefined): Problem[] {
  const { direction = 'toHris', owner, conflict, report } = rule;
  const at = ['fields', target];
  const say = (key: string, text: string): Problem[] => [problemAt(source, [...at, key], text)];
  if (conflict !== undefined && owner !== 'either')
    return say(
      'conflict',
      `"${target}" has one owner, so there is no conflict. Remove conflict, or write owner: either.`,
    );
  if (report === true && way?.owners.includes('partner') !== true)
    return say('report', `nothing looks at later edits of "${target}". Remove report.`);
  if (report === true && owner === 'either')
    return say('report', `both sides may edit "${target}", so no edit is put back. Remove report.`);
  if (direction !== 'both')
    return owner === undefined
      ? []
      : say('owner', `"${target}" flows one way, from the side that owns it. Remove owner, or write direction: both.`);
  if (owner === undefined)
    return say('direction', `"${target}" flows both ways. Say whose edits count: owner: partner, hris or either.`);
  if (owner === 'either' && conflict === undefined)
    return say(
      'owner',
      `both sides may edit "${target}". Say what stays when both did: conflict: partner, hris or hold.`,
    );
  if (way === undefined || way.owners.includes(owner)) return [];
  const can = `Write owner: ${way.owners.join()}.`;
  return say('owner', `${way.carrier} carries no later edits of the partner for "${target}". ${can}`);
}

function checkPartnerSide({ target, rule, source }: PlacedRule, way: WayBack | undefined): Problem[] {
  const at = ['fields', target];
  if (way === undefined)
    return [
      problemAt(source, [...at, 'direction'], `nothing carries "${target}" to the partner yet. Remove direction.`),
    ];
  if (rule.required === true && rule.direction === 'toPartner')
    return [problemAt(source, [...at, 'required'], `"${target}" is not written to the HR system. Remove required.`)];
  return pathsOf(rule).flatMap((path) => {
    const wrong = wrongTarget(path, way);
    return wrong === undefined ? [] : [problemAt(source, [...at, 'from'], wrong)];
  });
}

function wrongTarget(path: string, { carrier, writes }: WayBack): string | undefined {
  const anywhere = parseSourcePath(path, partnerTargets);
  if ('wrong' in anywhere)
    return `${path} cannot be changed at the partner. ${didYouMean(anywhere.word, anywhere.known)}`;
  if (!('wrong' in parseSourcePath(path, writes))) return undefined;
  const records = Object.entries(writes).filter(([, record]) => record.hasCustomFields);
  const able = records.map(([name]) => `${name}.customFields[LABEL]`).join(', ');
  return `${carrier} cannot change ${path} at the partner, only ${able}. Name one of them, or remove direction.`;
}

/** Two rules that write one place of the partner would write over each other. */
export function checkTwice(rules: readonly PlacedRule[]): Problem[] {
  const seen = new Map<string, string>();
  return rules
    .filter(({ rule }) => flowsToPartner(rule))
    .flatMap(({ target, rule, source }) => {
      const [path] = pathsOf(rule);
      const key = path?.normalize('NFC').toLowerCase() ?? target;
      const before = seen.get(key);
      seen.set(key, target);
      if (before === undefined) return [];
      const text = `"${before}" writes ${path} at the partner too. Keep one of the two.`;
      return [problemAt(source, ['fields', target, 'from'], text)];
    });
}
