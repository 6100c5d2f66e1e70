// build/splitMessages.ts creates these modules from the message files.
declare module '*.ts?first' {
  const messages: Partial<import('.').Messages>;
  export default messages;
}

declare module '*.ts?rest' {
  const messages: Partial<import('.').Messages>;
  export default messages;
}
