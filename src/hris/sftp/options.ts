import { z } from 'zod';
import { columnName, defaultColumns, field } from '../columns.ts';
import { duration, employeeUrl } from '../option-types.ts';

const folder = z.string().regex(/^[^\0]*[^\0/]$/, 'expected a folder on the server, without a slash at its end');
const fingerprint = z
  .string()
  .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'expected a fingerprint as ssh-keygen -lf prints it: SHA256:...');

/** The options beside `kind: sftp` and `connection` in a tenant file. */
export const sftpOptions = z
  .strictObject({
    host: z.string().min(1),
    port: z.int().min(1).max(65_535).default(22),
    user: z.string().min(1),
    /** Fingerprint of the server's key; several while it is being replaced. */
    hostKey: z.union([fingerprint, z.array(fingerprint).min(1)]),
    /** References to secrets: `env:NAME` or `file:PATH`. */
    privateKey: z.string().min(1),
    passphrase: z.string().min(1).optional(),
    folders: z
      .strictObject({
        /** hirebridge writes requests here, and the customer's job takes them. */
        requests: folder.default('requests'),
        /** Empty files that mark what was sent; only hirebridge uses them. */
        sent: folder.default('sent'),
        results: folder.default('results'),
        rosters: folder.default('rosters'),
      })
      .prefault({}),
    /** Lists of files that become candidates, and the files themselves. */
    resumes: z.strictObject({ folder: folder.default('resumes') }).optional(),
    delimiter: z.enum([',', ';']).default(','),
    /** The customer's OpenPGP public key, armoured: `file:customer.asc`. Requests are encrypted with it. */
    encryptTo: z.string().min(1).optional(),
    /** Our OpenPGP private key, armoured, for encrypted results and rosters. */
    decryptWith: z.string().min(1).optional(),
    decryptPassphrase: z.string().min(1).optional(),
    idColumn: columnName.default('employee_id'),
    numberColumn: columnName.default('employee_number'),
    referenceColumn: columnName.default('reference'),
    /** Column with the last day of people who left; rosters then still list them. */
    endColumn: columnName.optional(),
    /** An older roster is not trusted, and hires wait for the next one. */
    rosterMaxAge: duration.default(3 * 86_400_000),
    /** How often the outcome of a hire is checked. */
    checkEvery: duration.default(15 * 60_000),
    /** The address of an employee's page: https://hr.example/people/{id}. */
    employeeUrl: employeeUrl.optional(),
    fields: z.record(z.string(), field).default({}),
    allowPrivateAddress: z.boolean('expected true or false').default(false),
  })
  .transform(({ hostKey, fields, ...options }) => ({
    ...options,
    hostKeys: [hostKey].flat(),
    columns: { ...defaultColumns, ...fields },
  }));

export type SftpOptions = z.output<typeof sftpOptions>;
