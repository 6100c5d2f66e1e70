<?php

// A form that starts a conference call: everybody gets a personal link, and after the end the page shows who was there.

declare(strict_types=1);

use Parley\Client;
use Parley\Exception\ConflictException;
use Parley\Exception\InvalidRequestException;
use Parley\Exception\ParleyException;

$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
if ($path === '/style.css') {
    return false; // the server of PHP sends the file
}
if ($path !== '/') {
    http_response_code(404);
    exit('There is no such page.');
}

require __DIR__ . '/vendor/autoload.php';

// The pages have no scripts and show no frames: the call opens in a page of the Parley server.
header("Content-Security-Policy: default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    . "frame-ancestors 'none'");
header('Cache-Control: no-store'); // because the page contains links for one person
header('X-Content-Type-Options: nosniff');
ini_set('display_errors', '0'); // because details of an error are for the log only
// The session keeps the calls of this browser, so that nobody else sees their links.
session_start(['cookie_httponly' => true, 'cookie_samesite' => 'Lax', 'use_strict_mode' => true]);

/** Escapes a text for HTML. */
function e(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE | ENT_HTML5, 'UTF-8');
}

/** Returns the names of the form; none if one is too long or there are more than 20. */
function readNames(string $form): array
{
    $names = array_values(array_filter(array_map(trim(...), explode("\n", $form)), strlen(...)));
    $isShort = static fn (string $name): bool => preg_match('/^.{1,100}$/u', $name) === 1;
    return count($names) <= 20 && array_filter($names, $isShort) === $names ? $names : [];
}

/** Creates a room and a personal link for each name. The first person is the host. */
function startCall(Client $parley, string $key, array $names): array
{
    $title = "Call of $names[0]";
    // With an idempotency key, the SDK repeats a call after a lost response, and gets the same room and the same link.
    $room = $parley->createQuickAudioRoom([
        'name' => $names[0],
        'max_participants' => count($names),
        'empty_timeout' => 300,
        'metadata' => ['room_title' => $title, 'welcome_message' => ''],
        'idempotency_key' => $key,
    ]);
    $links = [];
    foreach ($names as $i => $name) {
        // In a real application, client_user_id is your own ID of the person.
        $person = ['name' => $name, 'client_user_id' => "person-$i", 'is_admin' => $i === 0];
        $join = ['room_id' => $room->room_id, 'user_info' => $person, 'idempotency_key' => "$key $i"];
        $links[] = [$name, $parley->joinRoom($join)->final_link];
    }
    return ['room_id' => $room->room_id, 'title' => $title, 'links' => $links];
}

/** Ends a call. A room that is over already is no error. */
function endCall(Client $parley, string $roomId): void
{
    try {
        $parley->endRoom(['room_id' => $roomId]);
    } catch (ConflictException) {
    }
}

$call = $attendance = null;
$problem = '';
$key = (string) ($_REQUEST['call'] ?? '');
try {
    $parley = Client::fromEnvironment();
    $call = $_SESSION['calls'][$key] ?? null;
    if ($_SERVER['REQUEST_METHOD'] === 'POST') {
        if ($call === null) { // a form that is sent again starts no second call
            $names = readNames(($_POST['name'] ?? '') . "\n" . ($_POST['people'] ?? ''));
            if ($names !== [] && preg_match('/^[0-9a-f]{32}$/', $key) === 1) {
                $_SESSION['calls'][$key] = $call = startCall($parley, $key, $names);
            }
        } elseif (isset($_POST['end'])) {
            endCall($parley, $call['room_id']);
        }
        if ($call !== null) {
            header("Location: /?call=$key", true, 303);
            exit;
        }
        http_response_code(400);
        $problem = 'Please enter at most 20 names of at most 100 characters.';
    } elseif ($call !== null && !$parley->roomStatus(['room_id' => $call['room_id']])->status) {
        $attendance = $parley->analytics(['room_id' => $call['room_id']])->participants;
    } elseif ($call === null && $key !== '') {
        http_response_code(404);
        $problem = 'This browser has not started such a call.';
    }
} catch (InvalidRequestException $exception) {
    http_response_code(400);
    $problem = "Please check the names: $exception->error_message."; // for example, which character is not allowed
} catch (ParleyException $exception) {
    error_log($exception->getMessage()); // it contains no secrets
    http_response_code(502);
    $problem = 'The meeting server did not respond as expected. Please try again.';
}
require __DIR__ . '/page.php';
