<?php

declare(strict_types=1);

namespace Askr\Laravel\Queue;

use Askr\Laravel\Extension;
use Illuminate\Queue\Connectors\ConnectorInterface;
use InvalidArgumentException;

/**
 * Makes a queue from the options of one connection in `config/queue.php` (or `config/askr.php`).
 */
final class Connector implements ConnectorInterface
{
    public function __construct(private readonly Extension $extension)
    {
    }

    /**
     * @param array<string, mixed> $config
     */
    public function connect(array $config): AskrQueue
    {
        $this->extension->ready();

        return new AskrQueue(
            default: $config['queue'] ?? 'default',
            retryAfter: $this->whole($config, 'retry_after', 60, 1),
            blockFor: $this->whole($config, 'block_for', 0, 0),
            priority: $this->whole($config, 'priority', 0, PHP_INT_MIN),
            afterCommit: $config['after_commit'] ?? false,
        );
    }

    /**
     * Reads a whole number, which an environment variable delivers as text.
     *
     * @param array<string, mixed> $config
     */
    private function whole(array $config, string $option, int $default, int $least): int
    {
        $value = $config[$option] ?? $default;
        $number = filter_var($value, FILTER_VALIDATE_INT, ['options' => ['min_range' => $least]]);

        return $number !== false ? $number : throw new InvalidArgumentException(sprintf(
            'The option "%s" of a queue connection with the driver "askr" must be a whole number%s, %s given. '
            . 'Correct it in config/queue.php or config/askr.php.',
            $option,
            $least === PHP_INT_MIN ? '' : " of $least or more",
            json_encode($value),
        ));
    }
}
