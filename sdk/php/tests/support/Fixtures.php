<?php

declare(strict_types=1);

namespace Parley\Tests;

use Parley\Client;
use Parley\Signature;

/** Credentials, requests and responses of the tests. */
final class Fixtures
{
    public const BASE_URL = 'https://meet.example.org';
    public const PROJECT_ID = '0197c9b4-5a3e-7c11-b1a4-6c0b5d7f2e10';
    public const PROJECT_SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
    public const OTHER_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    public const API_KEY = 'pk_0000TestKeyDoNotUse00000000000';
    public const GATEWAY_SECRET = 'gs_0000TestSecretDoNotUse0000000000000000000000';
    public const ROOM_ID = '0197c9b4-6d1f-7a22-9c55-0d6a4b8e3f71';
    public const ROOM = '{"status":true,"room_id":"r","final_link":"https://meet.example.org/r/r#t=2"}';
    public const LINK = '{"status":true,"final_link":"https://meet.example.org/r/r#t=2"}';
    public const STATUS = '{"status":true,"message":"the room is open"}';
    public const NOW = 1_767_225_600;
    public const EVENT = '{"id":"e1","type":"room.started","timestamp":"2026-01-01T00:00:00.250Z","sequence":3,'
        . '"previous":2,"project_id":"p","data":{"room_id":"r","room_type":"video"}}';

    /** Returns a client with all credentials; named arguments replace some of them. */
    public static function client(string $url, mixed ...$arguments): Client
    {
        return new Client(...[
            'baseUrl' => $url,
            'projectId' => self::PROJECT_ID,
            'projectSecret' => self::PROJECT_SECRET,
            'apiKey' => self::API_KEY,
            'gatewaySecret' => self::GATEWAY_SECRET,
            ...$arguments,
        ]);
    }

    /**
     * Returns the headers of a webhook.
     *
     * @return array<string, string>
     */
    public static function webhook(string $body, string $secret = self::PROJECT_SECRET, ?int $now = null): array
    {
        $timestamp = (string) ($now ?? time());
        return [
            'webhook-id' => 'e1',
            'webhook-timestamp' => $timestamp,
            'webhook-signature' => Signature::webhook([$secret], 'e1', $timestamp, $body),
        ];
    }
}
