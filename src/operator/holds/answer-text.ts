import { entryOf } from '../../hire/answers.ts';

/** What must stand behind an answer; undefined where nothing does. A hold of the whole tenant adopts hires. */
export function takesOf(answer: string, isOfHire: boolean): string | undefined {
  const takes = entryOf(answer)?.takes;
  if (answer !== 'adopt') return takes;
  return isOfHire ? 'onboardingCandidateId' : 'jobCandidateId...';
}

/** An answer as it is typed: `link <employeeId>`. */
export function answerText(answer: string, isOfHire: boolean): string {
  const takes = takesOf(answer, isOfHire);
  return takes === undefined ? answer : `${answer} <${takes}>`;
}

/** What an answer does, before it is given; empty for a word that is no answer. */
export function answerDoes(answer: string, isOfHire: boolean): string {
  const { does = '', doesForTenant = does } = entryOf(answer) ?? {};
  return isOfHire ? does : doesForTenant;
}

/** What whoever answered is told. */
export function answeredText(answered: string, answer: string): string {
  const { waitsFor } = entryOf(answer) ?? {};
  const lines = [`Answered ${answered} with ${answer}. Follow it with: hirebridge status`, waitsFor ?? []];
  return `${lines.flat().join('\n')}\n`;
}
