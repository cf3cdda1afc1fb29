import { didYouMean } from '../in-words.ts';
import type { FieldDefinition } from '../store/fields.ts';
import type { CustomFieldUse } from './custom-fields.ts';
import { foldLabel } from './read-source.ts';

/** A problem with a custom field that a mapping uses. */
export interface FieldTrouble {
  path: string;
  reason:
    | 'FIELD_UNKNOWN'
    | 'FIELD_AMBIGUOUS'
    | 'FIELD_RENAMED'
    | 'FIELD_DELETED'
    | 'FIELD_REPLACED'
    | 'FIELD_MOVED'
    | 'FIELD_OPTION_REMOVED';
  /** The problem, its cause and the next step; labels and ids only. */
  message: string;
  /** Whether a value read or written now could be wrong or lost. */
  blocks: boolean;
}

export interface MatchedFields {
  /** The definition that each path means now; a path with a problem keeps its earlier definition. */
  matches: Map<string, FieldDefinition>;
  troubles: FieldTrouble[];
}

type Known = ReadonlyMap<string, FieldDefinition>;

/**
 * Matches the names in mappings with the partner's definitions. An id matches by itself; a label must also keep the
 * section and type of the definition that it meant before. Pure.
 */
export function matchFields(
  uses: readonly CustomFieldUse[],
  defined: readonly FieldDefinition[],
  known: Known,
): MatchedFields {
  const matches = new Map<string, FieldDefinition>();
  const troubles: FieldTrouble[] = [];
  for (const use of uses) {
    const before = known.get(use.path);
    const found = matchOne(use, defined, before);
    if ('reason' in found) {
      troubles.push(found);
      if (before !== undefined) matches.set(use.path, before);
    } else if ('match' in found) {
      matches.set(use.path, withOptions(found.match, before));
      troubles.push(...removedOptions(use, found.match, before));
    }
  }
  return { matches, troubles };
}

type Found = { match: FieldDefinition } | FieldTrouble | { nothing: true };

function matchOne(
  use: CustomFieldUse,
  defined: readonly FieldDefinition[],
  before: FieldDefinition | undefined,
): Found {
  const own = defined.filter(({ entity }) => entity === use.entity);
  const byId = own.find(({ id }) => id === use.wanted);
  if (byId !== undefined) return { match: byId };
  const labelled = own.filter(({ label }) => foldLabel(label) === foldLabel(use.wanted));
  const [only] = labelled;
  if (only === undefined) return notFound(use, own, before);
  if (labelled.length > 1) return ambiguous(use, labelled);
  return before === undefined || only.id === before.id ? { match: only } : judgeSuccessor(use, only, before, own);
}

/** Another field has the label now. For a mapping it is the same field only if nothing but its id differs. */
function judgeSuccessor(
  use: CustomFieldUse,
  now: FieldDefinition,
  before: FieldDefinition,
  own: readonly FieldDefinition[],
): Found {
  const former = own.find(({ id }) => id === before.id);
  if (former !== undefined)
    return trouble(
      use,
      'FIELD_RENAMED',
      `Custom field ${before.id} is called "${former.label}" now, and another one (${now.id}) has its label. ` +
        `Write the id of the one that is meant into the mapping: ${withId(use, before.id)} or ${withId(use, now.id)}.`,
    );
  if (now.type !== before.type)
    return trouble(
      use,
      'FIELD_REPLACED',
      `It was deleted and created again with another type: ${before.type} before, ${now.type} now. Create it again ` +
        `as ${before.type}; or, if the new type is meant, correct the mapping and name it by its id: ` +
        `${withId(use, now.id)}.`,
    );
  if ((now.section ?? null) === (before.section ?? null)) return { match: now };
  return trouble(
    use,
    'FIELD_MOVED',
    `It was deleted, and a field of the same label stands in section ${now.section ?? 'none'} instead of ` +
      `${before.section ?? 'none'}. If that one is meant, write its id into the mapping: ${withId(use, now.id)}.`,
  );
}

function notFound(
  use: CustomFieldUse,
  own: readonly FieldDefinition[],
  before: FieldDefinition | undefined,
): FieldTrouble | { nothing: true } {
  const former = own.find(({ id }) => id === before?.id);
  if (former !== undefined)
    return trouble(
      use,
      'FIELD_RENAMED',
      `The hiring platform calls it "${former.label}" now. Rename it back; or, if it means the same, correct the ` +
        `mapping, best by its id: ${withId(use, former.id)}.`,
    );
  if (before !== undefined)
    return trouble(
      use,
      'FIELD_DELETED',
      `The hiring platform has no such ${use.entity} custom field any more. Create it again as ${before.type} in ` +
        `section ${before.section ?? 'none'}, or take it out of the mapping.`,
    );
  if (!use.own) return { nothing: true };
  const labels = own.map(({ label }) => label);
  const hint = labels.length === 0 ? 'It has none at all.' : didYouMean(use.wanted, labels);
  return trouble(
    use,
    'FIELD_UNKNOWN',
    `The hiring platform has no such ${use.entity} custom field. ${hint} Correct the mapping, or define it there.`,
  );
}

function ambiguous(use: CustomFieldUse, labelled: readonly FieldDefinition[]): FieldTrouble {
  const places = labelled.map(({ id, section, type }) => `${id} (${section ?? 'no section'}, ${type})`);
  return trouble(
    use,
    'FIELD_AMBIGUOUS',
    `${labelled.length} custom fields have that label: ${places.join(', ')}. Write the id of the one that is meant ` +
      'into the mapping.',
  );
}

/** A removed option does not stop its values from being read, but writing it would be refused. */
function removedOptions(
  use: CustomFieldUse,
  now: FieldDefinition,
  before: FieldDefinition | undefined,
): FieldTrouble[] {
  const gone = (before?.options ?? []).filter((option) => !(now.options ?? []).includes(option));
  if (before?.id !== now.id || gone.length === 0) return [];
  const what = gone.map((option) => `"${option}"`).join(', ');
  const text =
    `The hiring platform removed of its options: ${what}. People may still have them. Put them back ` +
    '(hirebridge discover TENANT --apply does), or accept the change with hirebridge discover TENANT --acknowledge.';
  return [{ ...trouble(use, 'FIELD_OPTION_REMOVED', text), blocks: false }];
}

/** Remembers options that a field once had, so that a removed option stays an alarm until somebody decides. */
function withOptions(now: FieldDefinition, before: FieldDefinition | undefined): FieldDefinition {
  if (before?.id !== now.id || !before.options?.length) return now;
  return { ...now, options: [...new Set([...before.options, ...(now.options ?? [])])] };
}

function trouble({ path }: CustomFieldUse, reason: FieldTrouble['reason'], text: string): FieldTrouble {
  return { path, reason, message: `${path}: ${text}`, blocks: true };
}

function withId({ entity }: CustomFieldUse, id: string): string {
  return `${entity}.customFields[${id}]`;
}
