/** What a document says. */
export interface FileText {
  title: string;
  lines: string[];
}
