/** Intents of what happens to an employee, by their verbs. */
export const CREATE_VERB = 'create-employee';
export const REHIRE_VERB = 'rehire-employee';
export const END_VERB = 'terminate-employee';
