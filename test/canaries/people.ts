import { randomBytes, randomInt } from 'node:crypto';
import { contract } from '../../src/partner/contract/index.ts';
import type { World } from '../harness/world.ts';

/** A text or number that stands nowhere else in the world. */
export interface Canary {
  /** As `TOKENS` finds it, in whatever case it is written. */
  token: string;
  kind: 'name' | 'e-mail' | 'phone' | 'free text' | 'pay' | 'answer' | 'file name' | 'id number' | 'error body' | 'id';
}

export interface Person {
  candidateId: number;
  canaries: Canary[];
  /** Of whoever applied by the hosted page, to be hired. */
  jobCandidateId?: number;
  /** What the HR system says of them where it does not take them. */
  words?: string;
}

/** Every canary in a text: words, telephone numbers, pay. */
const TOKENS = /cny[a-z]+[0-9a-f]{12}|4917\d{9}|7077\d{8}/gi;

export function tokensIn(bytes: Buffer): Set<string> {
  const found = bytes.toString('latin1').match(TOKENS) ?? [];
  return new Set(found.map((token) => token.toLowerCase()));
}

/** Ids are pseudonyms, which logs and histories may hold as well. */
export const isId = ({ kind }: Canary): boolean => kind === 'id';

/** What an HR system says of somebody beyond what it was sent stands in a hold, which commands show. */
export const isTold = ({ kind }: Canary): boolean => kind === 'error body';

function word(kind: string): string {
  return `Cny${kind}${randomBytes(6).toString('hex')}`;
}

let planted = 0;

/** What a person says of themselves, and the canaries in it. */
function profile() {
  planted += 1;
  const fields = {
    firstName: word('given'),
    lastName: word('family'),
    email: `${word('mail')}@canary.example`,
    phone: `+4917${String(100_000_000 + planted * 7_919)}`,
    summary: word('summary'),
  };
  const canaries: Canary[] = [
    canary('name', fields.firstName),
    canary('name', fields.lastName),
    canary('e-mail', fields.email),
    canary('phone', fields.phone),
    canary('free text', fields.summary),
  ];
  return { fields, canaries };
}

export function canary(kind: Canary['kind'], text: string): Canary {
  const [token] = text.match(TOKENS) ?? [];
  if (token === undefined) throw new Error(`${kind}: no canary in what was planted`);
  return { kind, token: token.toLowerCase() };
}

/** A field of the candidate with a number as an identity card has it. */
const ID_NUMBER = 'Identity card';

/**
 * Gives everybody in the sandbox a name, an address, numbers and a summary that are nobody else's. Those who are to be
 * hired apply by the hosted page, with what they want to earn, an answer, a résumé and the name of a file.
 */
export async function plant({ partner, control }: World, hired: number): Promise<Person[]> {
  await partner.customFields.create({
    body: { entityType: 'candidate', fieldLabel: ID_NUMBER, fieldType: 'text', parentSection: 'Miscellaneous' },
  });
  const number = async (entityId: number): Promise<Canary> => {
    const value = word('card');
    const field = { fieldLabel: ID_NUMBER, entityType: 'candidate', entityId, value } as const;
    await control.act('setCustomFieldValue', field);
    return canary('id number', value);
  };
  const { items } = await partner.readAll(contract.candidates.list);
  const [job] = (await partner.readAll(contract.jobs.list)).items;
  const people: Person[] = [];
  for (const { id } of items) {
    const { fields, canaries } = profile();
    const candidateId = Number(id);
    await control.act('editCandidate', { candidateId, fields });
    people.push({ candidateId, canaries: [...canaries, await number(candidateId)] });
  }
  for (let n = 0; n < hired; n += 1) {
    const { fields, canaries } = profile();
    const [answer, file, said] = [word('answer'), `${word('file')}.pdf`, word('refusal')];
    const pay = randomInt(707_700_000_000, 707_799_999_999);
    const application = {
      expectedCTC: pay,
      screeningQuestionAnswer: [{ question: 'Why us?', answer }],
      otherFiles: [{ name: file }],
    };
    const applied = await control.act('apply', { jobId: Number(job?.id), candidate: fields, application });
    const { candidateId, jobCandidateId } = applied as { candidateId: number; jobCandidateId: number };
    const words = `Cannot take ${fields.firstName} ${fields.lastName.toUpperCase()} <${fields.email.toLowerCase()}>, ${
      fields.phone
    }: ${said}`;
    people.push({
      candidateId,
      jobCandidateId,
      words,
      canaries: [
        ...canaries,
        canary('answer', answer),
        canary('file name', file),
        canary('pay', String(pay)),
        canary('error body', said),
        await number(candidateId),
      ],
    });
  }
  return people;
}
