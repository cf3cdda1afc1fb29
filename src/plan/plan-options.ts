/** One entry of a list of the HR system. */
interface ListEntry {
  /** Its key in the HR system, which stays when the entry is renamed. */
  id: string;
  label: string;
}

/** What is stored about a label: its entry, and whether an earlier run missed it. */
interface KnownLabel {
  /** Null for an option that somebody else made. */
  entryId: string | null;
  missed: boolean;
}

/** Changes that make a set of options equal to a list; an option that stays is in none of these. */
export interface OptionPlan {
  add: string[];
  /** Options whose entry has another label now. */
  rename: { from: string; to: string }[];
  /** Options without an entry that an earlier run missed too. */
  remove: string[];
  /** Options without an entry that may come back; the next run removes them. */
  waiting: string[];
  /**
   * Labels that one entry took over from another that still exists, so that it is unclear which entry a value means.
   */
  passedOn: string[];
}

/** Options that a plan removes or renames. */
export function goingIn({ remove, rename }: Pick<OptionPlan, 'remove' | 'rename'>): string[] {
  return [...remove, ...rename.map(({ from }) => from)];
}

/** Compares a select field's options with the entries of the list. Pure. */
export function planOptions(
  options: readonly string[],
  entries: readonly ListEntry[],
  known: ReadonlyMap<string, KnownLabel>,
): OptionPlan {
  const wanted = new Set(entries.map(({ label }) => label));
  const labels = new Map(entries.map(({ id, label }) => [id, label]));
  const plan: OptionPlan = {
    add: [...wanted].filter((label) => !options.includes(label)),
    rename: [],
    remove: [],
    waiting: [],
    passedOn: [...wanted].filter((label) => isPassedOn(label, entries, { labels, known })),
  };
  for (const option of new Set(options)) {
    if (wanted.has(option)) continue;
    const { entryId = null, missed = false } = known.get(option) ?? {};
    const to = entryId === null ? undefined : labels.get(entryId);
    if (to !== undefined) plan.rename.push({ from: option, to });
    else if (missed) plan.remove.push(option);
    else plan.waiting.push(option);
  }
  return plan;
}

function isPassedOn(
  label: string,
  entries: readonly ListEntry[],
  { labels, known }: { labels: ReadonlyMap<string, string>; known: ReadonlyMap<string, KnownLabel> },
): boolean {
  const before = known.get(label)?.entryId ?? null;
  const now = before === null ? undefined : labels.get(before);
  return now !== undefined && now !== label && entries.some((entry) => entry.label === label && entry.id !== before);
}

/** The options after a plan, in their present order. Options in use stay, even if the plan removes them. */
export function optionsAfter(
  options: readonly string[],
  { add, rename, remove }: Pick<OptionPlan, 'add' | 'rename' | 'remove'>,
  inUse: ReadonlySet<string>,
): string[] {
  const renamed = new Map(rename.map(({ from, to }) => [from, to]));
  const kept = options.flatMap((option) => {
    if (inUse.has(option)) return [option];
    return remove.includes(option) ? [] : [renamed.get(option) ?? option];
  });
  return [...new Set([...kept, ...add])];
}

/** Changes of up to this many options need no question. */
const FEW = 5;
const MOST_REMOVED = 0.2;
const MOST_RENAMED = 0.5;
/** Most records whose value may change without asking. */
const MOST_MOVED = 500;

export interface Excess {
  code: 'ZERO_ROWS' | 'MASS_DELETE' | 'MASS_CHANGE' | 'OPTION_PASSED_ON';
  message: string;
  count: number;
}

interface Judged {
  options: readonly string[];
  entries: readonly ListEntry[];
  /** Options that should go but stay because records hold them. */
  inUse: ReadonlySet<string>;
  /** Number of records whose value would change. */
  moved: number;
}

/** Why a person must be asked before anything is written: every reason, one per code. */
export function judgeOptions(
  { rename, remove, waiting, passedOn }: OptionPlan,
  { options, entries, inUse, moved }: Judged,
): Excess[] {
  const all = options.length;
  // The field must keep an option: the partner refuses a select field without any (section 2.5).
  if (entries.length === 0) {
    const message = `its list in the HR system is empty, and the field has ${all} options.`;
    return [{ code: 'ZERO_ROWS', message, count: all }];
  }
  const excesses: Excess[] = [];
  const gone = remove.filter((option) => !inUse.has(option)).length + waiting.length;
  if (gone > Math.max(FEW, all * MOST_REMOVED)) {
    const message = `${gone} of its ${all} options are no longer in the HR system's list.`;
    excesses.push({ code: 'MASS_DELETE', message, count: gone });
  }
  const isMuch = rename.length > Math.max(FEW, all * MOST_RENAMED);
  if (isMuch || moved > MOST_MOVED) {
    const message =
      `${rename.length} of its ${all} options have another name now` +
      (moved === 0 ? '.' : `, and ${moved} records would get the new name.`);
    excesses.push({ code: 'MASS_CHANGE', message, count: Math.max(rename.length, moved) });
  }
  const taken = passedOn.filter((label) => inUse.has(label));
  if (taken.length > 0) {
    const message =
      `${taken.join(', ')} was the name of one entry and is now the name of another. Values that hold it stay as ` +
      'they are: correct those that mean the former entry.';
    excesses.push({ code: 'OPTION_PASSED_ON', message, count: taken.length });
  }
  return excesses;
}
