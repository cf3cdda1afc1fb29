/**
 * What a command's exit tells a script: 0 done, 1 error, 2 rejected input or differences found, 3 done in part, or a
 * process that should run does not.
 */
export const EXIT = { done: 0, error: 1, refused: 2, partial: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
