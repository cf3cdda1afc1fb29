/** What the demo's customer may have: `sql` is a file of SQLite, and everything else is started beside the demo. */
export const DEMO_KINDS = ['sql', 'postgresql', 'mariadb', 'tryton', 'sftp', 'bamboohr', 'scim'] as const;

export type DemoKind = (typeof DEMO_KINDS)[number];
