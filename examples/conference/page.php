<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title><?= e($call['title'] ?? 'Conference call') ?></title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<main>
<h1><?= e($call['title'] ?? 'Conference call') ?></h1>
<?php if ($problem !== ''): ?>
<p role="alert"><?= e($problem) ?></p>
<?php endif; ?>
<?php if ($call === null): ?>
<form method="post" action="/">
<input type="hidden" name="call" value="<?= bin2hex(random_bytes(16)) ?>">
<label for="name">Your name</label>
<input id="name" name="name" value="<?= e($_POST['name'] ?? '') ?>" required maxlength="100" autocomplete="name">
<label for="people">The other people, one on each line</label>
<textarea id="people" name="people" rows="5" required><?= e($_POST['people'] ?? '') ?></textarea>
<button>Start a conference call</button>
</form>
<?php elseif ($attendance === null): ?>
<p><a class="button" href="<?= e($call['links'][0][1]) ?>" target="_blank" rel="noopener">Join the call</a></p>
<h2>Send each person their link</h2>
<?php foreach (array_slice($call['links'], 1) as $i => [$name, $link]): ?>
<label for="link<?= $i ?>"><?= e($name) ?></label>
<input id="link<?= $i ?>" value="<?= e($link) ?>" readonly>
<?php endforeach; ?>
<form method="post" action="/">
<input type="hidden" name="call" value="<?= e($key) ?>">
<button name="end" value="1">End the call for everybody</button>
</form>
<p><a href="/?call=<?= e($key) ?>">Show the attendance when the call is over</a></p>
<?php else: ?>
<table>
<caption>Attendance</caption>
<thead>
<tr><th scope="col">Name</th><th scope="col">Role</th><th scope="col">From</th><th scope="col">Duration</th></tr>
</thead>
<tbody>
<?php foreach ($attendance as $person): ?>
<tr><th scope="row"><?= e($person->name) ?></th><td><?= e($person->role) ?></td>
<td><?= gmdate('H:i', $person->joined_at->getTimestamp()) ?> UTC</td>
<td><?= gmdate('H:i:s', (int) round($person->duration)) ?></td></tr>
<?php endforeach; ?>
<?php if ($attendance === []): ?>
<tr><td colspan="4">Nobody joined the call.</td></tr>
<?php endif; ?>
</tbody>
</table>
<p><a href="/">Start another call</a></p>
<?php endif; ?>
</main>
</body>
</html>
