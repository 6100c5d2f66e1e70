/** Returns the page at the address of a server itself. The server replaces the comment in it. */
export function landingPage(head: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Parley</title>
<link rel="icon" href="/favicon.svg">
${head}</head>
<body>
<main class="guide landing">
<h1>Parley</h1>
<p>This server runs video and audio meetings. People join in their browser with a link,
without an account or an app.</p>
<!-- health -->
<h2>If you were invited to a meeting</h2>
<p>Open the link that you received. It has <code>/r/</code> after the address of this server.
If you typed it, please compare it with the invitation, or ask for it again.</p>
<h2>If you want to create rooms</h2>
<ul>
<li><a href="/docs/quickstart">Quick start</a>: the first room in a few minutes</li>
<li><a href="/docs">Documentation of the API</a>, with SDKs for TypeScript, Python, PHP and Go</li>
<li><a href="/docs/v4">Reference of version 4</a>, and of <a href="/docs/v3">3</a> and <a href="/docs/v5">5</a></li>
</ul>
<h2>If you run this server</h2>
<p>The <a href="/console">console</a> shows rooms, API calls, webhooks and usage, also to integrators.
Run <code>parley --help</code> on the machine. <a href="/healthz">/healthz</a> says which parts work,
and <code>/metrics</code> has figures for Prometheus.</p>
</main>
</body>
</html>
`;
}
