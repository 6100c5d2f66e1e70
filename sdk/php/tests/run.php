<?php

/**
 * Runs the tests: php tests/run.php [PART OF A NAME]
 *
 * They need these packages of Debian: php-cli php-curl php-guzzlehttp-guzzle php-nyholm-psr7 php-psr-http-client
 * php-illuminate-routing php-illuminate-events
 *
 * Each file *Test.php returns its tests, functions by their names.
 */

declare(strict_types=1);

use function Parley\Tests\failures;

require __DIR__ . '/support/bootstrap.php';

$wanted = $argv[1] ?? '';
$ran = 0;
foreach (glob(__DIR__ . '/*Test.php') ?: [] as $file) {
    foreach (require $file as $name => $test) {
        $title = basename($file, 'Test.php') . ': ' . $name;
        if ($wanted !== '' && stripos($title, $wanted) === false) {
            continue;
        }
        $ran++;
        $failures = failures($test);
        echo $failures === [] ? 'ok   ' : 'FAIL ', $title, "\n";
        foreach ($failures as $failure) {
            echo preg_replace('/^/m', '     ', $failure), "\n";
        }
        $failed = ($failed ?? 0) + ($failures === [] ? 0 : 1);
    }
}
echo $ran, ' tests, ', $failed ?? 0, " failed\n";
exit($ran === 0 || ($failed ?? 0) > 0 ? 1 : 0);
