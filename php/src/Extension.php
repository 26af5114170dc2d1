<?php

declare(strict_types=1);

namespace Askr\Laravel;

use InvalidArgumentException;
use RuntimeException;

/**
 * The extension as this application wants it: loaded, and on the application's queue.
 */
final class Extension
{
    /**
     * @param string $tier "sqlite" or "memory"
     * @param string|null $database the path that the application names, if it does
     * @param string $default the path where neither the application nor php.ini names one
     */
    public function __construct(
        private readonly string $tier,
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
     * @throws InvalidArgumentException when the configuration contradicts itself
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
        $wanted = match ($this->tier) {
            'sqlite' => $this->database ?: $current ?: $this->default,
            'memory' => $this->none(),
            default => throw new InvalidArgumentException(sprintf(
                'The queue\'s tier must be "sqlite" or "memory", "%s" given. Correct askr.queue_tier in '
                . 'config/askr.php (ASKR_QUEUE_TIER).',
                $this->tier,
            )),
        };

        if ($wanted !== $current && ini_set('askr.queue_db', $wanted) === false) {
            throw new RuntimeException(sprintf(
                'The queue\'s database should be "%s" (askr.queue_tier and askr.queue_db in config/askr.php, '
                . 'ASKR_QUEUE_TIER, ASKR_QUEUE_DB), but this PHP (%s) has it fixed to "%s". Name the same in both, '
                . 'or remove "askr.queue_db" from php_admin_value.',
                $wanted,
                PHP_SAPI,
                $current,
            ));
        }
    }

    /**
     * No database, which is the tier in shared memory.
     */
    private function none(): string
    {
        // Also where Laravel did not read it: the extension does.
        $database = $this->database ?: getenv('ASKR_QUEUE_DB');

        return ! $database ? '' : throw new InvalidArgumentException(sprintf(
            'The queue\'s tier is "memory", and yet its database is "%s". Remove askr.queue_tier from '
            . 'config/askr.php (ASKR_QUEUE_TIER), or askr.queue_db (ASKR_QUEUE_DB).',
            $database,
        ));
    }
}
