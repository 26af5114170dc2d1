<?php

declare(strict_types=1);

namespace Askr\Laravel\Queue;

use Askr\Laravel\Extension;
use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;
use Generator;
use Illuminate\Contracts\Config\Repository as Config;
use Illuminate\Queue\Failed\CountableFailedJobProvider;
use Illuminate\Queue\Failed\FailedJobProviderInterface;
use Illuminate\Queue\Failed\PrunableFailedJobProvider;
use Throwable;

/**
 * Laravel's failed jobs on the dead letters (`queue.failed.driver` = "askr").
 *
 * Laravel deletes a job that failed and then logs it: two steps, and a worker killed between them loses
 * it. Here {@see AskrJob::delete()} moves the job in one transaction, and the log that follows for it does
 * nothing.
 *
 * A dead letter has no column for the connection; it is the first line of the exception's text.
 */
final class FailedJobProvider implements
    FailedJobProviderInterface,
    CountableFailedJobProvider,
    PrunableFailedJobProvider
{
    private const CONNECTION = 'Connection: ';

    /** Dead letters to read at a time. */
    private const PAGE = 500;

    /** A foreign job on its way to the dead letters is kept from the workers for a day. */
    private const OUT_OF_REACH = 86_400;

    /** The payload of the job that was moved, and whose log is still to come. */
    private ?string $moved = null;

    public function __construct(private readonly Config $config, Extension $extension)
    {
        $extension->ready();
    }

    /**
     * Moves a job from its queue to the dead letters, unless its claim is lost: then it is another
     * worker's to fail.
     */
    public function move(AskrJob $job, Throwable $exception): void
    {
        $this->moved = $job->getRawBody();

        askr_queue_fail(
            $job->getJobId(),
            $job->uuid(),
            $this->describe($job->getConnectionName(), $exception),
            $job->attempts(),
        );
    }

    /**
     * Records a failed job of another connection; ours was moved already.
     *
     * @param string $connection
     * @param string $queue
     * @param string $payload
     * @param Throwable $exception
     */
    public function log($connection, $queue, $payload, $exception): ?string
    {
        $uuid = json_decode($payload, true)['uuid'] ?? null;

        if ($this->moved === $payload) {
            $this->moved = null;

            return $uuid;
        }

        $id = askr_queue_push($queue, $payload, self::OUT_OF_REACH, 0, AskrQueue::MAX_ATTEMPTS);
        askr_queue_fail($id, $uuid, $this->describe($connection, $exception));

        return $uuid;
    }

    /**
     * @param string|null $queue
     * @return list<int>
     */
    public function ids($queue = null): array
    {
        return array_map(static fn (object $job): int => $job->id, [...$this->each($queue)]);
    }

    /**
     * @return list<object>
     */
    public function all(): array
    {
        return [...$this->each()];
    }

    /**
     * @param int|string $id the dead letter's id, or the job's uuid, which is how a batch names its failed jobs
     */
    public function find($id): ?object
    {
        if ($this->isNumber($id)) {
            $letter = askr_failed_find((int) $id);

            return $letter === null ? null : $this->record($letter);
        }

        foreach ($this->each() as $job) {
            if ($job->uuid === $id) {
                return $job;
            }
        }

        return null;
    }

    /**
     * @param int|string $id as in {@see find()}
     */
    public function forget($id): bool
    {
        $id = $this->isNumber($id) ? (int) $id : $this->find($id)?->id;

        return $id !== null && askr_failed_forget($id);
    }

    /**
     * @param int|string|null $hours keeps the jobs that failed within them; none: keeps nothing
     */
    public function flush($hours = null): void
    {
        askr_failed_flush($hours ? (int) $hours * 3600 : null);
    }

    public function prune(DateTimeInterface $before): int
    {
        return askr_failed_flush(max(0, time() - $before->getTimestamp()));
    }

    /**
     * @param string|null $connection
     * @param string|null $queue
     */
    public function count($connection = null, $queue = null): int
    {
        $count = 0;
        foreach ($this->each($queue) as $job) {
            $count += (int) ($connection === null || $job->connection === $connection);
        }

        return $count;
    }

    /**
     * @return Generator<int, object> newest first
     */
    private function each(?string $queue = null): Generator
    {
        $last = PHP_INT_MAX;
        for ($offset = 0; $letters = askr_failed_list(self::PAGE, $offset, $queue); $offset += self::PAGE) {
            foreach ($letters as $letter) {
                // A job that fails meanwhile moves the others down, into the next page.
                if ($letter['id'] < $last) {
                    yield $this->record($letter);
                    $last = $letter['id'];
                }
            }
        }
    }

    /**
     * A dead letter as the framework wants a failed job. Its list shows the fields by their order.
     *
     * @param array{id: int, uuid: ?string, queue: string, payload: string, exception: ?string, failed_at: int} $letter
     */
    private function record(array $letter): object
    {
        [$connection, $exception] = $this->parse($letter['exception'] ?? '');

        return (object) [
            'id' => $letter['id'],
            'connection' => $connection,
            'queue' => $letter['queue'],
            'payload' => $letter['payload'],
            'exception' => $exception,
            'failed_at' => (new DateTimeImmutable('@' . $letter['failed_at']))
                ->setTimezone(new DateTimeZone(date_default_timezone_get()))
                ->format('Y-m-d H:i:s'),
            'uuid' => $letter['uuid'],
        ];
    }

    private function describe(string $connection, Throwable $exception): string
    {
        return self::CONNECTION . $connection . "\n" . mb_scrub((string) $exception, 'UTF-8');
    }

    /**
     * @return array{string, string} the connection and the exception
     */
    private function parse(string $text): array
    {
        if (str_starts_with($text, self::CONNECTION)) {
            $parts = explode("\n", substr($text, strlen(self::CONNECTION)), 2);

            return [$parts[0], $parts[1] ?? ''];
        }

        // Another program's, or moved by the extension itself: any connection with our driver fits.
        return [$this->ourConnection(), $text];
    }

    private function ourConnection(): string
    {
        foreach ($this->config->get('queue.connections', []) as $name => $options) {
            if (($options['driver'] ?? null) === 'askr') {
                return $name;
            }
        }

        return 'askr';
    }

    private function isNumber(mixed $id): bool
    {
        return is_int($id) || ctype_digit($id);
    }
}
