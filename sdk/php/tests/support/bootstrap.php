<?php

/**
 * The classes of this package, and the packages of Debian that the tests use.
 */

declare(strict_types=1);

require_once '/usr/share/php/GuzzleHttp/autoload.php';
require_once '/usr/share/php/Nyholm/Psr7/autoload.php';
require_once __DIR__ . '/checks.php';

spl_autoload_register(static function (string $class): void {
    foreach (['Parley\\Tests\\' => __DIR__, 'Parley\\' => dirname(__DIR__, 2) . '/src'] as $prefix => $directory) {
        $file = $directory . '/' . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;
            return;
        }
    }
});

// A warning or a deprecation in this package is a failure. Those of Debian's packages are not.
set_error_handler(static function (int $level, string $message, string $file, int $line): bool {
    if ((error_reporting() & $level) !== 0 && str_starts_with($file, dirname(__DIR__, 2))) {
        throw new ErrorException($message, 0, $level, $file, $line);
    }
    return str_starts_with($file, '/usr/share/php/');
});
