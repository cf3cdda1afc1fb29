/** What both sides and the store show for one line of an import. */
export interface LinkFacts {
  /** Undefined if the partner shows no such candidate. */
  candidate: PersonName | undefined;
  /** Undefined if the HR system shows no such employee. */
  employee: PersonName | undefined;
  /** The candidate that the store already links to this employee. */
  linkedCandidate: string | undefined;
  /** Employees that the store already links to this candidate. */
  linkedEmployees: readonly string[];
  /** Whether a hire is about to find or make this person's employee. */
  isBeingHired: boolean;
  /** Which of the two was erased from the store. */
  erased: 'candidate' | 'employee' | undefined;
}

export interface PersonName {
  id: string;
  /** The full name. */
  name: string;
}

type LinkVerdict = { kind: 'fits' | 'known' } | { kind: 'refused'; at: 'candidate' | 'employee'; text: string };

/** Whether a candidate may be linked to an employee: the names agree, and nothing speaks against it. */
export function judgeLink(facts: LinkFacts): LinkVerdict {
  const { candidate, employee, linkedCandidate, linkedEmployees, isBeingHired, erased } = facts;
  if (erased !== undefined) return refused(erased, ERASED);
  if (candidate === undefined) return refused('candidate', 'The partner shows no such candidate.');
  if (employee === undefined) return refused('employee', 'The HR system shows no such employee.');
  if (linkedCandidate === candidate.id) return { kind: 'known' };
  if (linkedCandidate !== undefined) return refused('employee', `Is already linked to candidate ${linkedCandidate}.`);
  const [other] = linkedEmployees;
  if (other !== undefined) return refused('candidate', `Is already linked to employee ${other}.`);
  if (isBeingHired) return refused('candidate', 'Has a hire under way, which finds or makes the employee itself.');
  if (isSameName(candidate, employee)) return { kind: 'fits' };
  const text = `Is ${maskName(employee)} in the HR system, and the candidate is ${maskName(candidate)} at the partner.`;
  return refused('employee', text);
}

const ERASED = 'Was erased from hirebridge on request, and is not linked again. Take the line out of the file.';

function refused(at: 'candidate' | 'employee', text: string): LinkVerdict {
  return { kind: 'refused', at, text };
}

function isSameName(one: PersonName, other: PersonName): boolean {
  return fold(one.name) !== '' && fold(one.name) === fold(other.name);
}

/** Ignores case, accents, dashes and blanks, which differ between systems without meaning. */
function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[\s\p{Pd}'’.]+/gu, ' ')
    .trim()
    .toLowerCase();
}

/** Shows enough to compare with a record at hand, but not the name. */
export function maskName({ name }: Pick<PersonName, 'name'>): string {
  const masked = name
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => `${String.fromCodePoint(word.codePointAt(0) ?? 0)}***`);
  return masked.length === 0 ? '(no name)' : masked.join(' ');
}
