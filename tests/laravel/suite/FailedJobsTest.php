<?php

declare(strict_types=1);

namespace Askr\Laravel\Tests;

use App\Jobs\PriorityProbe;
use App\Jobs\Probe;
use App\Record;
use Askr\Laravel\Queue\FailedJobProvider;
use Illuminate\Support\Facades\Artisan;
use Illuminate\Support\Facades\DB;
use PHPUnit\Framework\Attributes\Group;
use RuntimeException;

/**
 * The commands around failed jobs, on the dead letters.
 */
final class FailedJobsTest extends LaravelTestCase
{
    public function testAFailedJobIsListedWithAllThatIsKnownOfIt(): void
    {
        $this->fail3();

        $failed = $this->failer()->all();
        [$c, $b, $a] = array_column($failed, 'id');
        $this->assertSame([$a + 1, $a + 2], [$b, $c]);

        $list = $this->artisan('queue:failed');
        $this->assertMatchesRegularExpression("/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d $c .*askr@other App.Jobs.Probe/", $list);
        $this->assertSame(3, substr_count($list, Probe::class));

        $this->assertSame(['other', 'default', 'default'], array_column($failed, 'queue'));
        $this->assertSame(['askr', 'askr', 'askr'], array_column($failed, 'connection'));
        $this->assertStringStartsWith('RuntimeException: c throws in attempt 1 in ', $failed[0]->exception);
        $this->assertEqualsWithDelta(time(), strtotime($failed[0]->failed_at), 30);
        $this->assertSame(json_decode($failed[0]->payload)->uuid, $failed[0]->uuid);

        $this->assertSame([$c, $b, $a], $this->failer()->ids());
        $this->assertSame([$c], $this->failer()->ids('other'));
        $this->assertSame([3, 2, 0], [
            $this->failer()->count(),
            $this->failer()->count('askr', 'default'),
            $this->failer()->count('redis'),
        ]);
    }

    public function testRetryByIdUuidQueueAndAll(): void
    {
        $this->fail3();
        [$c, $b, $a] = $this->failer()->ids();
        $uuid = $this->failer()->find($b)->uuid;

        $this->artisan('queue:retry', "$a");
        $this->assertSame([$c, $b], $this->failer()->ids());
        $this->artisan('queue:retry', $uuid);
        $this->assertSame([$c], $this->failer()->ids());
        $this->artisan('queue:retry', '--queue=other');
        $this->assertSame([], $this->failer()->ids());

        $this->assertSame([2, 1], [$this->queue()->pendingSize(), $this->queue()->pendingSize('other')]);
        $this->workUntilEmpty('--queue=default,other');
        $this->assertSame(3, $this->failer()->count(), 'their attempts count anew');
        $this->artisan('queue:retry', 'all');
        $this->assertSame([[], 3], [$this->failer()->ids(), $this->queue()->totalSize()]);
        $this->assertStringContainsString('Unable to find failed job', $this->artisan('queue:retry', "$a"));
    }

    public function testARetriedJobKeepsItsPriority(): void
    {
        $this->queue()->push((new PriorityProbe('a', 'throw ok'))->with(['level' => 7]));
        $this->workUntilEmpty();
        $this->artisan('queue:retry', 'all');

        $this->assertSame(7, $this->jobs()[0]['priority']);
    }

    #[Group('sqlite')]
    public function testForgetAndFlushAndPrune(): void
    {
        $this->fail3();

        $this->artisan('queue:forget', '1');
        $this->artisan('queue:forget', $this->failer()->find(2)->uuid);
        $this->assertSame([3], $this->failer()->ids());
        $this->assertSame(1, $this->start(['queue:forget', '1'])->wait());

        $this->artisan('queue:flush', '--hours=1');
        $this->assertStringContainsString('0 entries deleted', $this->artisan('queue:prune-failed', '--hours=1'));
        $this->assertSame([3], $this->failer()->ids(), 'it failed within the hour');

        $this->age(3, 7200);
        $this->assertStringContainsString('1 entries deleted', $this->artisan('queue:prune-failed', '--hours=1'));

        $this->fail3();
        $this->age(5, 7200);
        $this->artisan('queue:flush', '--hours=1');
        $this->assertSame([6, 4], $this->failer()->ids());
        $this->artisan('queue:flush');
        $this->assertSame([], $this->failer()->ids());
    }

    public function testAFailedJobOfAnotherConnectionGoesBackThere(): void
    {
        Artisan::call('migrate', ['--force' => true]);
        Probe::dispatch('a', 'throw ok')->onConnection('database')->onQueue('mails');
        $this->workUntilEmpty('database', '--queue=mails');

        [$failed] = $this->failer()->all();
        $this->assertSame(['database', 'mails'], [$failed->connection, $failed->queue]);
        $this->assertStringStartsWith('RuntimeException: a throws', $failed->exception);
        $this->assertSame([0, 0], [$this->queue()->totalSize(), $this->queue('database')->size('mails')]);

        $this->artisan('queue:retry', 'all');
        $this->assertSame([0, 1], [$this->queue()->totalSize(), $this->queue('database')->size('mails')]);
    }

    public function testManyFailedJobsAreListedThoughMoreFailMeanwhile(): void
    {
        $fail = function (int $jobs): void {
            foreach (askr_queue_push_many('default', array_fill(0, $jobs, '{}')) as $id) {
                askr_queue_fail($id);
            }
        };
        $this->queue();
        $fail(1200);
        $ids = $this->failer()->ids();
        $this->assertSame(range($ids[0], $ids[0] - 1199), $ids);

        // Between two pages of the listing.
        $seen = [];
        foreach ((fn () => $this->each())->call($this->failer()) as $job) {
            if ($seen === []) {
                $fail(3);
            }
            $seen[] = $job->id;
        }
        $this->assertSame($ids, $seen);
    }

    public function testADeadLetterThatTheDriverDidNotWriteIsOurs(): void
    {
        $id = $this->queue()->pushRaw('not JSON', 'foreign');
        askr_queue_fail($id, null, "by hand \xff");

        $failed = $this->failer()->all()[0];
        $this->assertSame(['askr', "by hand \xff", null], [$failed->connection, $failed->exception, $failed->uuid]);
        $this->assertNull($this->failer()->find('no such uuid'));
    }

    public function testAForeignPayloadFailsAndNothingElse(): void
    {
        $this->queue()->pushRaw('not JSON');
        Probe::dispatch('a');
        $this->workUntilEmpty('--tries=1');

        $this->assertSame(['a start 1', 'a done 1'], Record::lines());
        $this->assertSame(['not JSON'], array_column($this->deadLetters(), 'payload'));
    }

    public function testAnotherFailedJobDriverWorksAsUsual(): void
    {
        $this->configure(['queue.failed' => [
            'driver' => 'database-uuids', 'database' => 'sqlite', 'table' => 'failed_jobs',
        ]]);
        Artisan::call('migrate', ['--force' => true]);
        Probe::dispatch('a', 'throw');
        $this->workUntilEmpty();

        $this->assertSame(['askr'], DB::table('failed_jobs')->pluck('connection')->all());
        $this->assertSame([0, []], [$this->queue()->size(), $this->deadLetters()]);

        $this->artisan('queue:retry', 'all');
        $this->assertSame([1, 0], [$this->queue()->size(), DB::table('failed_jobs')->count()]);
    }

    public function testALostClaimChangesNothing(): void
    {
        $this->configure(['queue.connections.askr' => ['driver' => 'askr', 'retry_after' => 1]]);
        $this->queue()->push(new Probe('a'));
        $late = $this->queue()->pop();
        $this->eventually(fn (): bool => $this->queue()->pendingSize() === 1, 'the reservation did not lapse');
        $current = $this->queue()->pop();

        (clone $late)->delete();
        (clone $late)->release();
        (clone $late)->fail(new RuntimeException('too late'));
        $this->failer()->log('askr', 'default', $late->getRawBody(), new RuntimeException('too late'));

        $this->assertSame([[], 1, 2], [$this->deadLetters(), $this->queue()->size(), $this->jobs()[0]['attempts']]);
        $this->assertNotNull($this->jobs()[0]['reserved_until']);
        $current->delete();
        $this->assertSame(0, $this->queue()->size());
    }

    /**
     * Lets three jobs fail, the last on another queue.
     */
    private function fail3(): void
    {
        Probe::dispatch('a', 'throw');
        Probe::dispatch('b', 'throw');
        Probe::dispatch('c', 'throw')->onQueue('other');
        $this->workUntilEmpty('--queue=default,other', '--tries=1');
    }

    private function age(int $id, int $seconds): void
    {
        $this->database()->exec("UPDATE askr_failed_jobs SET failed_at = failed_at - $seconds WHERE id = $id");
    }

    private function failer(): FailedJobProvider
    {
        return $this->app->make('queue.failer');
    }
}
