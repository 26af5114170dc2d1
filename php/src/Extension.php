<?php

declare(strict_types=1);

namespace Askr\Laravel;

use RuntimeException;

/**
 * The extension as this application wants it: loaded, and on the application's database.
 */
final class Extension
{
    /**
     * @param string|null $database the path that the application names, if it does
     * @param string $default the path where neither the application nor php.ini names one
     */
    public function __construct(
        private readonly ?string $database,
        private readonly string $default,
    ) {
    }

    /**
     * To be called before the first `askr_*` function.
     *
     * The path is handed over as a setting, because the environment variable that the extension reads
     * by itself is missing once Laravel's configuration is cached: then .env is not loaded.
     *
     * @throws RuntimeException when the extension is missing or its database is fixed to another path
     */
    public function ready(): void
    {
        if (! extension_loaded('askr')) {
            throw new RuntimeException(sprintf(
                'The PHP extension "askr" is not loaded in this PHP (%s, %s). Put "extension=askr.so" into %s '
                . 'and restart PHP-FPM and the queue workers, or choose another queue connection.',
                PHP_VERSION,
                PHP_SAPI,
                php_ini_loaded_file() ?: 'php.ini',
            ));
        }

        $current = (string) ini_get('askr.queue_db');
        $wanted = $this->database ?: $current ?: $this->default;

        if ($wanted !== $current && ini_set('askr.queue_db', $wanted) === false) {
            throw new RuntimeException(sprintf(
                'The queue\'s database should be "%s" (askr.queue_db in config/askr.php, ASKR_QUEUE_DB), but this '
                . 'PHP (%s) has it fixed to "%s". Name the same file in both, or remove "askr.queue_db" from '
                . 'php_admin_value.',
                $wanted,
                PHP_SAPI,
                $current,
            ));
        }
    }
}
