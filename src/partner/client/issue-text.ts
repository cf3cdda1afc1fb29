import type { z } from 'zod';

/** Paths and what is wrong with them, at most five; never a value. */
export function issuesText(error: z.ZodError): string {
  const texts = error.issues.slice(0, 5).map((issue) => `${issue.path.join('.') || 'body'}: ${issueText(issue)}`);
  return texts.join('; ') + (error.issues.length > 5 ? `; and ${error.issues.length - 5} more` : '');
}

/** What is wrong, in words that hold no value. zod's own messages are not used: a later version may quote the input. */
export function issueText(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${issue.expected}`;
    case 'too_big':
      return `at most ${issue.maximum}`;
    case 'too_small':
      return `at least ${issue.minimum}`;
    case 'not_multiple_of':
      return `expected a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return issue.format === 'email' ? 'is not a valid e-mail address' : `expected the form ${issue.format}`;
    case 'invalid_value':
      return `expected one of ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `unknown keys ${issue.keys.join(', ')}`;
    case 'invalid_union':
      return 'fits none of the forms allowed';
    case 'invalid_key':
    case 'invalid_element':
      return 'holds an entry of the wrong form';
    case 'custom':
      return issue.message;
  }
}
