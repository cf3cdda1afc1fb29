/** What a tenant that only observes would have done about one hire: ids, codes and field names, no personal data. */
export interface Observed {
  /** `ask`: a hold, with its code and message. */
  would: 'create' | 'link' | 'update' | 'rehire' | 'ask';
  employeeId?: string;
  code?: string;
  message?: string;
  /** Onboarding credits that the hire costs at most. */
  credits: number;
}

/** In one line. */
export function describeObserved({ would, employeeId, code, credits }: Observed): string {
  const what = {
    create: 'create an employee',
    link: `link employee ${employeeId}`,
    update: `update employee ${employeeId}`,
    rehire: `rehire employee ${employeeId}`,
    ask: `ask a person (${code})`,
  }[would];
  return credits === 0 ? what : `enrol (${credits} credit) and ${what}`;
}

/** What they cost together at most. */
export function creditsOf(hires: ReadonlyArray<{ observed: Observed }>): number {
  return hires.reduce((sum, { observed }) => sum + observed.credits, 0);
}
