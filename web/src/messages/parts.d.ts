// build/messages.ts makes them of the message files.
declare module '*.ts?page' {
  const messages: Partial<import('.').Messages>;
  export default messages;
}

declare module '*.ts?room' {
  const messages: Partial<import('.').Messages>;
  export default messages;
}
